import { CacheWorld, pods } from '../../../test/harness/cache-world.js';
import { Deferred } from '../../std/deferred.js';
import { readFresh } from './freshness.js';

describe('readFresh', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  const read = (resourceVersion: string | undefined) =>
    readFresh({ feed: world.feed, limits: { freshnessTimeoutMs: 5000 } }, world.cache, resourceVersion, undefined);
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
});
