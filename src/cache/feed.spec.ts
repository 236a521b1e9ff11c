import { after, CacheWorld, decodePod, initial, pods, RecordingSink } from '../../test/harness/cache-world.js';
import { checkAgainstStore } from './checker.js';
import { FreshnessTimeout } from './feed.js';
import { deleteEvent, putEvent } from '../storage/store-event.js';

const secrets = { prefix: '/registry/secrets/', decode: decodePod };
const secret = (name: string, version = 0) =>
  ({
    type: 'put',
    key: `/registry/secrets/ns/${name}`,
    value: Buffer.from(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"${name}"},"v":${version}}`),
  }) as const;

describe('Feed', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  it('loads all pages at one revision under concurrent writes', async () => {
    world = new CacheWorld({ loadPageItems: 3, loadPageItemsMax: 3 });
    for (let n = 0; n < 10; n++) await world.put(`p${n}`);
    const started = world.feed.start();
    const more = Array.from({ length: 10 }, (_, n) => world.put(`p${n * 2}`, { version: 9 }));
    await Promise.all([started, ...more]);
    await world.runPending();
    expect(world.cache.isReady).toBe(true);
    expect(world.cache.snapshot().size).toBe(15);
    expect(world.feed.position).toBe(await world.memory.revision());
    expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);
  });

  it('tells the progress of a load', async () => {
    world = new CacheWorld({ loadPageItems: 4, loadPageItemsMax: 4, loadCountMs: 50 });
    for (let n = 0; n < 10; n++) await world.put(`p${n}`);
    const seen: unknown[] = [];
    const { range } = world.store;
    world.store.range = (...args) => {
      seen.push(world.feed.loading);
      if (seen.length === 2) world.clock.advance(50);
      return range(...args);
    };
    await world.feed.start();
    // A page is requested before the one before it is decoded, and keys are counted in a load that takes long.
    expect(seen).toEqual([undefined, undefined, { keys: 4 }]);
    expect(world.feed.loading).toBeUndefined();
  });

  it('restarts the load if the store compacts its revision', async () => {
    world = new CacheWorld({ loadPageItems: 2, loadPageItemsMax: 2 });
    for (let n = 0; n < 9; n++) await world.put(`p${n}`);
    const { range } = world.store;
    world.store.range = async (...args) => {
      if (world.store.rangeCalls === 1) {
        const { revision } = await world.memory.txn([], [secret('s')]);
        await world.memory.compact(revision);
      }
      return range(...args);
    };
    const started = world.feed.start();
    await world.runPending();
    world.clock.advance(100);
    await started;
    expect(world.cache.snapshot().size).toBe(9);
    expect(world.store.rangeCalls).toBeGreaterThan(5);
  });

  it('retries while the store is unavailable, until aborted', async () => {
    world = new CacheWorld();
    world.store.cut();
    const started = world.feed.start();
    for (let n = 0; n < 5; n++) {
      await world.runPending();
      world.clock.advance(5_000);
    }
    expect(world.store.rangeCalls).toBe(6 - 1);
    expect(world.feed.synced).toBe(false);
    world.store.mend();
    await world.runPending();
    world.clock.advance(5_000);
    await started;
    expect(world.feed.synced).toBe(true);

    const other = new CacheWorld();
    other.store.cut();
    const stop = new AbortController();
    const stopped = other.feed.start(stop.signal);
    await other.runPending();
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await other.close();
  });

  it('loads resources added after start, and drops removed ones', async () => {
    world = await CacheWorld.started();
    await world.write(secret('old'));
    const cache = world.feed.addResource(secrets);
    expect(cache.isReady).toBe(false);
    const write = world.memory.txn([], [secret('meanwhile')]);
    await cache.ready;
    await write;
    await world.runPending();
    await world.write(secret('new'));
    expect(Array.from(cache.snapshot().range(secrets.prefix), (object) => object.attributes.name)).toEqual([
      'meanwhile',
      'new',
      'old',
    ]);
    expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);

    const sink = new RecordingSink();
    cache.subscribe(
      {
        ...world.watch(),
        scope: secrets.prefix,
        exactKey: false,
        start: after(world.feed.position),
        matches: undefined,
        equalities: [],
        rendering: (await import('../../test/harness/cache-world.js')).jsonRendering,
        bookmarks: false,
        initialEventsEnd: false,
      },
      sink,
    );
    world.feed.removeResource(secrets.prefix);
    await world.write(secret('after'));
    expect([sink.eventLines, sink.isEnded]).toEqual([[], true]);
    expect(world.feed.addResource(secrets)).not.toBe(cache);
  });

  it('rejects readers of a removed resource', async () => {
    world = await CacheWorld.started();
    expect(() => world.cache.checkOpen()).not.toThrow();
    world.feed.removeResource(pods);
    const { sink } = world.watch({ start: initial });
    await world.put('after');
    expect([sink.eventLines, sink.isEnded, world.cache.watchCount]).toEqual([[], true, 0]);
    expect(() => world.cache.checkOpen()).toThrow(expect.objectContaining({ reason: 'ServiceUnavailable' }));
  });

  it('misses no event of a resource added during the first load', async () => {
    world = new CacheWorld();
    await world.write(secret('old'));
    const started = world.feed.start();
    const cache = world.feed.addResource(secrets);
    for (let n = 0; n < 5; n++) await world.memory.txn([], [secret(`s${n}`)]);
    await Promise.all([started, cache.ready]);
    await world.runPending();
    expect(cache.snapshot().size).toBe(6);
    expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);
  });

  it('rejects overlapping prefixes', async () => {
    world = new CacheWorld();
    expect(() => world.feed.addResource({ prefix: `${pods}x/`, decode: decodePod })).toThrow('overlap');
    expect(() => world.feed.addResource({ prefix: pods, decode: decodePod })).toThrow('overlap');
    expect(() => world.feed.addResource({ prefix: '/elsewhere/', decode: decodePod })).toThrow('under');
  });

  it('finds the resource of a key at every prefix depth', async () => {
    world = new CacheWorld();
    const caches = ['/registry/services/specs/', '/registry/services/endpoints/', '/registry/a.io/bs/'].map((prefix) =>
      world.feed.addResource({ prefix, decode: decodePod }),
    );
    await world.feed.start();
    for (const key of [
      'services/specs/ns/a',
      'services/endpoints/ns/a',
      'a.io/bs/x',
      'services/other/x',
      'loose',
      'pods/ns/p',
    ]) {
      await world.write({ ...secret('x'), key: `/registry/${key}` });
    }
    expect(caches.map((cache) => cache.snapshot().size)).toEqual([1, 1, 1]);
    expect(world.cache.snapshot().size).toBe(1);
  });

  it('applies a burst in slices of whole revisions', async () => {
    world = await CacheWorld.started({ applySliceEvents: 5 });
    const positions = new Set<number>();
    const sink = new RecordingSink();
    world.watch({}, sink);
    const write = sink.write.bind(sink);
    sink.write = (frame) => {
      positions.add(world.feed.position);
      return write(frame);
    };
    world.store.cut();
    const pair = (n: number) =>
      [0, 1, 2].map(
        (k) =>
          ({
            type: 'put',
            key: `${pods}ns/p${n}-${k}`,
            value: Buffer.from(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p${n}-${k}"}}`),
          }) as const,
      );
    for (let n = 0; n < 20; n++) await world.memory.txn([], pair(n));
    world.store.mend();
    await world.runPending(20);
    expect(sink.eventLines).toHaveLength(60);
    expect(positions.size).toBeGreaterThan(5);
    expect(world.feed.position).toBe(await world.memory.revision());
  });

  describe('after a lost connection', () => {
    it('continues without a gap, and reports its lag meanwhile', async () => {
      world = await CacheWorld.started();
      const { sink } = world.watch();
      world.store.cut();
      await world.put('a');
      expect(sink.eventLines).toEqual([]);
      for (let n = 0; n < 4; n++) {
        world.clock.advance(5_000);
        await world.runPending();
      }
      expect(world.feed.synced).toBe(false);
      expect(world.feed.lagMs).toBeGreaterThanOrEqual(20_000);
      world.store.mend();
      await world.runPending();
      expect(sink.eventLines).toEqual(['ADDED a@2']);
      world.clock.advance(5_000);
      await world.runPending();
      expect(world.feed.synced).toBe(true);
      expect(world.feed.lagMs).toBeLessThan(5_000);
    });

    it('reloads and ends all watches if the store has compacted the missed events', async () => {
      world = await CacheWorld.started();
      await world.put('a');
      const watches = [world.watch(), world.watch({}, new RecordingSink(1)), world.watch({ start: after(99) })];
      world.store.cut();
      await world.remove('a');
      const revision = await world.put('b');
      await world.memory.compact(revision);
      world.store.mend();
      await world.runPending();
      for (const { sink } of watches) {
        expect(sink.eventLines).toEqual([expect.stringMatching(/^ERROR 410 too old resource version/)]);
        expect(sink.isEnded).toBe(true);
      }
      expect(Array.from(world.cache.snapshot().range(pods), ({ key }) => key)).toEqual([`${pods}ns/b`]);
      expect(world.cache.snapshotAt(2 as never)).toBeUndefined();
      const next = world.watch();
      await world.put('c');
      expect(next.sink.eventLines).toHaveLength(1);
      expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);
    });
  });

  it('checkAgainstStore() returns all mismatches', async () => {
    world = await CacheWorld.started();
    for (const name of ['a', 'b', 'c']) await world.put(name);
    world.cache.apply(deleteEvent(`${pods}ns/a`, 4 as never), 0);
    const value = Buffer.from('{"metadata":{}}');
    for (const [name, created] of Object.entries({ b: 3, x: 4 })) {
      const item = { key: `${pods}ns/${name}`, value, createRevision: created as never, modRevision: 4 as never };
      world.cache.apply(putEvent(item), 0);
    }
    const found = await checkAgainstStore(world.feed, world.memory);
    expect(found.map(({ key, inCache, inStore }) => [key.at(-1), inCache, inStore])).toEqual([
      ['a', undefined, 2],
      ['b', 4, 3],
      ['x', 4, undefined],
    ]);
  });

  it('reloads after an impossible event', async () => {
    world = await CacheWorld.started();
    await world.put('a');
    world.cache.apply(deleteEvent(`${pods}ns/a`, 50 as never), 0);
    await world.put('b');
    await world.runPending();
    expect(world.cache.snapshot().size).toBe(2);
    expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);
  });
});

describe('Feed freshness', () => {
  let world: CacheWorld;
  const options = { timeoutMs: 1_000 };
  beforeEach(async () => {
    world = await CacheWorld.started();
    world.store.revisionCalls = 0;
  });
  afterEach(() => world.close());

  it('resolves when the feed has reached the revision', async () => {
    const reached: number[] = [];
    for (const revision of [4, 2, 3, 2])
      void world.feed.waitFor(revision as never, options).then(() => reached.push(revision));
    await world.put('a');
    expect(reached).toEqual([2, 2]);
    await world.put('b');
    await world.put('c');
    expect(reached).toEqual([2, 2, 3, 4]);
    await world.feed.waitFor(1 as never, options);
  });

  it('rejects after the timeout or abort of the caller', async () => {
    const late = world.feed.waitFor(9 as never, options);
    const stop = new AbortController();
    const aborted = world.feed.waitFor(9 as never, { ...options, caller: stop });
    stop.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    world.clock.advance(1_100);
    await expect(late).rejects.toMatchObject({ name: 'FreshnessTimeout', requested: 9, current: 1 });
    await expect(late).rejects.toBeInstanceOf(FreshnessTimeout);
    await expect(world.feed.waitFor(9 as never, { ...options, caller: stop })).rejects.toThrow('gone');
  });

  it('reads the revision once for all readers that asked before it was sent', async () => {
    let answer!: () => void;
    world.store.revisionGate = new Promise((resolve) => (answer = resolve));
    const first = [1, 2, 3].map(() => world.feed.consistentRevision(options));
    await world.runPending();
    expect(world.store.revisionCalls).toBe(1);
    const second = [1, 2].map(() => world.feed.consistentRevision(options));
    await world.runPending();
    expect(world.store.revisionCalls).toBe(1);
    await world.put('a');
    world.store.revisionGate = undefined;
    answer();
    expect(await Promise.all(first)).toEqual([1, 1, 1]);
    expect(await Promise.all(second)).toEqual([2, 2]);
    expect(world.store.revisionCalls).toBe(2);
  });

  it('sees every write acknowledged before the read', async () => {
    for (let n = 0; n < 20; n++) {
      const { revision } = await world.memory.txn([], [secret('s', n)]);
      expect(await world.feed.consistentRevision(options)).toBeGreaterThanOrEqual(revision);
      expect(world.feed.position).toBeGreaterThanOrEqual(revision);
    }
  });

  it('requests progress if other writes are outside the prefix', async () => {
    await world.memory.txn([], [{ type: 'put', key: '/elsewhere', value: Buffer.from('x') }]);
    const read = world.feed.consistentRevision(options);
    world.store.progressRequests = 0;
    await world.runPending();
    world.clock.advance(10);
    expect(await read).toBe(2);
    const before = world.store.progressRequests;
    world.clock.advance(1_000);
    expect(world.store.progressRequests).toBe(before);
  });

  it('rejects with the error of the store, and recovers', async () => {
    world.store.cut();
    await expect(world.feed.consistentRevision(options)).rejects.toMatchObject({ code: 'unavailable' });
    world.store.mend();
    expect(await world.feed.consistentRevision(options)).toBe(1);
  });

  it('rejects after revisionTimeoutMs if the store does not answer', async () => {
    world.store.revisionGate = new Promise(() => undefined);
    const lost = world.feed.consistentRevision(options);
    const refused = expect(lost).rejects.toMatchObject({ code: 'unavailable' });
    await world.runPending();
    world.clock.advance(3_100);
    await refused;
    world.store.revisionGate = undefined;
    expect(await world.feed.consistentRevision(options)).toBe(1);
  });

  it('rejects all waiters on close', async () => {
    const waiting = world.feed.waitFor(9 as never, options);
    await world.feed.close();
    await expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await expect(world.feed.consistentRevision(options)).rejects.toMatchObject({ code: 'closed' });
  });
});
