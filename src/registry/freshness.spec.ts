import { CacheWorld, pods } from '../../test/harness/cache-world.js';
import { Deferred } from '../std/deferred.js';
import { readFresh } from './freshness.js';

describe('readFresh', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  const read = (resourceVersion: string | undefined) =>
    readFresh({ feed: world.feed, limits: { freshnessTimeoutMs: 5000 } }, world.cache, resourceVersion, undefined);
  const tooLate = { reason: 'ServiceUnavailable' };

  it.each([undefined, '', '0', '1'])('answers from a cache that is there: %p', async (resourceVersion) => {
    world = await CacheWorld.started();
    await world.put('a');
    await expect(read(resourceVersion)).resolves.toBeUndefined();
  });

  it('does not answer from one that was removed while the reader waited', async () => {
    world = await CacheWorld.started();
    const gate = new Deferred<void>();
    world.store.revisionGate = gate.promise;
    const reading = read(undefined);
    world.feed.removeResource(pods);
    gate.resolve();
    await expect(reading).rejects.toMatchObject(tooLate);
    await expect(read('0')).rejects.toMatchObject(tooLate);
  });

  it('does not wait for one that was removed before it was loaded', async () => {
    world = new CacheWorld();
    const reading = read('0');
    world.feed.removeResource(pods);
    await expect(reading).rejects.toMatchObject(tooLate);
  });
});
