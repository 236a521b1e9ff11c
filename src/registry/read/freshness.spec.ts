import { getEventListeners } from 'node:events';
import { CacheWorld, pods } from '../../../test/harness/cache-world.js';
import type { Caller } from '../../cache/feed.js';
import { ManualClock } from '../../std/clock.js';
import { Deferred } from '../../std/deferred.js';
import { readFresh } from './freshness.js';

describe('readFresh', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  const clock = new ManualClock();
  const read = (resourceVersion: string | undefined, caller: Caller = {}) =>
    readFresh({ feed: world.feed, clock, limits: { freshnessTimeoutMs: 5000 } }, world.cache, resourceVersion, caller);
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

  describe('on a cache that is not loaded', () => {
    it.each<[string, (client: AbortController) => void]>([
      ['freshnessTimeoutMs has passed', () => clock.advance(5000)],
      ['the client disconnects', (client) => client.abort(new Error('gone'))],
    ])('rejects when %s', async (_when, happens) => {
      world = new CacheWorld();
      const client = new AbortController();
      const reading = read('0', client);
      happens(client);
      await expect(reading).rejects.toMatchObject(tooLate);
    });

    it('rejects if the client has disconnected before', async () => {
      world = new CacheWorld();
      await expect(read('0', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toMatchObject(tooLate);
    });

    it('leaves neither a timer nor a listener behind', async () => {
      world = new CacheWorld();
      const { signal } = new AbortController();
      const reading = read('0', { signal });
      expect([clock.pendingTimers, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
      await world.feed.start();
      await reading;
      expect([clock.pendingTimers, getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
    });
  });

  it('rejects when the client of a waiting reader disconnects', async () => {
    world = await CacheWorld.started();
    const client = new AbortController();
    const reading = read('1000', { signal: client.signal });
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
    await expect(read(undefined, caller)).resolves.toBeUndefined();
  });
});
