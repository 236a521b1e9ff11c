import { credential, installPlugin, prints, program, runs, source } from '../../test/harness/credential-plugins.js';
import { ManualClock } from '../std/clock.js';

installPlugin();

const pair = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };

describe('caching', () => {
  it('credentials are cached until expirationTimestamp', async () => {
    const clock = new ManualClock(Date.UTC(2030, 0, 1));
    prints(credential({ token: 'a', expirationTimestamp: '2030-01-01T01:00:00+00:30' }));
    const plugin = await source({}, { clock });
    await plugin.get();
    clock.advance(30 * 60_000 - 1);
    expect(await plugin.get()).toMatchObject({ token: 'a' });
    expect(runs()).toHaveLength(1);
    prints(credential({ token: 'b' }));
    clock.advance(1);
    expect(await plugin.get()).toMatchObject({ token: 'b' });
    expect(runs()).toHaveLength(2);
  });

  it('without expirationTimestamp, credentials are cached until an answer 401', async () => {
    const clock = new ManualClock();
    prints(credential(pair));
    const plugin = await source({}, { clock });
    const first = await plugin.get();
    clock.advance(365 * 86_400_000);
    expect(await plugin.get()).toBe(first);
    prints(credential({ ...pair, clientKeyData: 'OTHER' }));
    expect(plugin.reject(first)).toBe(true);
    const second = await plugin.get();
    expect(second.clientCertificate?.key.toString()).toBe('OTHER');
    expect(plugin.reject(first)).toBe(true);
    expect(await plugin.get()).toBe(second);
    expect(runs()).toHaveLength(2);
  });

  it('concurrent requests share one run', async () => {
    prints(credential({ token: 'a' }));
    const plugin = await source();
    await Promise.all([1, 2, 3].map(() => plugin.get()));
    expect(runs()).toHaveLength(1);
  });

  it('a failure is not cached', async () => {
    program('process.exit(1)');
    const plugin = await source();
    await expect(plugin.get()).rejects.toThrow('exit code 1');
    prints(credential({ token: 'a' }));
    expect(await plugin.get()).toMatchObject({ token: 'a' });
  });

  it('a plugin that returns rejected credentials again is run once a second', async () => {
    const clock = new ManualClock();
    prints(credential({ token: 'a' }));
    const plugin = await source({}, { clock });
    expect(plugin.reject(await plugin.get())).toBe(true);
    expect(plugin.reject(await plugin.get())).toBe(false);
    await plugin.get();
    expect(runs()).toHaveLength(2);
    clock.advance(1_000);
    expect(plugin.reject(await plugin.get())).toBe(true);
  });

  it('closing the client ends a running plugin', async () => {
    program('setInterval(() => {}, 1000)');
    const plugin = await source();
    const running = plugin.get();
    setTimeout(() => plugin.close(), 100);
    await expect(running).rejects.toThrow('the client was closed');
  });
});
