import { CacheWorld, pods } from '../../../test/harness/cache-world.js';
import { Deferred } from '../../std/deferred.js';
import { readFresh } from './freshness.js';

describe('readFresh', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  const read = (resourceVersion: string | undefined) =>
    readFresh({ feed: world.feed, limits: { freshnessTimeoutMs: 5000 } }, world.cache, resourceVersion, {});
  const tooLate = { reason: 'ServiceUnavailable' };

  it.each([undefined, '', '0', '1'])('resolves at once on a loaded cache: %p', async (resourceVersion) => {
    world = await CacheWorld.started();
    await world.put('a');
    await expect(read(resourceVersion)).resolves.toBeUndefined();
  });

  it('rejects if the cache is closed while the reader waits', async () => {
    world = await CacheWorld.started();
    const gate = new Deferred<void>();
    world.store.revisionGate = gate.promise;
    const reading = read(undefined);
    world.feed.removeResource(pods);
    gate.resolve();
    await expect(reading).rejects.toMatchObject(tooLate);
    await expect(read('0')).rejects.toMatchObject(tooLate);
  });

  it('rejects if the cache is closed before it is loaded', async () => {
    world = new CacheWorld();
    const reading = read('0');
    world.feed.removeResource(pods);
    await expect(reading).rejects.toMatchObject(tooLate);
  });
  it('rejects when the client of a waiting reader disconnects', async () => {
    world = await CacheWorld.started();
    const client = new AbortController();
    const options = { feed: world.feed, limits: { freshnessTimeoutMs: 5000 } };
    const reading = readFresh(options, world.cache, '1000', { signal: client.signal });
    client.abort(new Error('the client closed the connection'));
    await expect(reading).rejects.toThrow('the client closed the connection');
  });

  it('does not read the signal of a reader that need not wait', async () => {
    world = await CacheWorld.started();
    const caller = {
      get signal(): AbortSignal {
        throw new Error('read');
      },
    };
    const options = { feed: world.feed, limits: { freshnessTimeoutMs: 5000 } };
    await expect(readFresh(options, world.cache, undefined, caller)).resolves.toBeUndefined();
  });
});
