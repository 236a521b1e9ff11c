import { after, CacheWorld, initial, pods, RecordingSink } from '../../test/harness/cache-world.js';
import type { CacheLimits } from './cache-limits.js';

describe('a watch with a slow client', () => {
  let world: CacheWorld;
  const start = async (limits: Partial<CacheLimits> = {}) => (world = await CacheWorld.started(limits));
  afterEach(() => world.close());

  it('continues event by event after a drain, and becomes active again', async () => {
    await start();
    const slow = world.watch({}, new RecordingSink(1));
    const fast = world.watch();
    for (const name of ['a', 'b', 'c', 'd']) await world.put(name);
    expect(slow.sink.eventLines).toEqual(['ADDED a@2']);
    expect(slow.revision).toBe(2);
    slow.sink.room = 2;
    slow.drained();
    await world.runPending();
    expect(slow.sink.eventLines).toEqual(['ADDED a@2', 'ADDED b@3', 'ADDED c@4']);
    expect(slow.revision).toBe(4);
    slow.sink.room = Infinity;
    slow.drained();
    await world.runPending();
    await world.put('e');
    expect(slow.sink.eventLines).toEqual(fast.sink.eventLines);
    expect(slow.revision).toBe(world.feed.position);
    expect(slow.sink.overruns).toBe(0);
  });

  it('ends with 410 if the history has dropped its next event', async () => {
    await start({ historyEventsMin: 4, historyEventsMax: 4 });
    const slow = world.watch({}, new RecordingSink(1));
    for (let n = 0; n < 10; n++) await world.put(`p${n}`);
    slow.sink.room = 5;
    slow.drained();
    await world.runPending();
    expect(slow.sink.eventLines).toEqual(['ADDED p0@2', 'ERROR 410 too old resource version: 1 (7)']);
    expect(slow.sink.isEnded).toBe(true);
    expect(slow.sink.events[1]!.object).toMatchObject({ kind: 'Status', reason: 'Expired', code: 410 });
    expect(world.cache.watchCount).toBe(0);
  });

  it('gets the initial state as of its start at its own pace, then the changes since', async () => {
    await start();
    for (const name of ['a', 'b', 'c']) await world.put(name);
    const slow = world.watch({ start: initial, initialEventsEnd: true }, new RecordingSink(1));
    await world.runPending();
    expect(slow.sink.eventLines).toEqual(['ADDED a@2']);
    expect(slow.revision).toBe(0);
    await world.put('c');
    await world.remove('b');
    for (let n = 0; n < 6; n++) {
      slow.sink.room = 1;
      slow.drained();
      await world.runPending();
    }
    expect(slow.sink.eventLines.slice(1)).toEqual([
      'ADDED b@3',
      'ADDED c@4',
      'BOOKMARK @4 end',
      'MODIFIED c@5',
      'DELETED b@6',
    ]);
    expect(slow.sink.overruns).toBe(0);
  });

  it('catches up in slices without blocking the event loop', async () => {
    await start({ replaySliceEvents: 10 });
    for (let n = 0; n < 95; n++) await world.put(`p${n}`);
    const { sink } = world.watch({ start: initial });
    const seen: number[] = [];
    for (let turn = 0; turn < 11; turn++) {
      await new Promise(setImmediate);
      seen.push(sink.eventLines.length);
    }
    expect(Math.max(...seen.map((count, turn) => count - (seen[turn - 1] ?? 0)))).toBeLessThanOrEqual(10);
    await world.runPending(20);
    expect(sink.eventLines).toHaveLength(95);
  });

  it('reports only complete revisions', async () => {
    await start();
    const slow = world.watch({}, new RecordingSink(1));
    const before = slow.revision;
    const two = ['a', 'b'].map(
      (name) =>
        ({
          type: 'put',
          key: `/registry/pods/ns/${name}`,
          value: Buffer.from(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"${name}","namespace":"ns"}}`),
        }) as const,
    );
    const { revision } = await world.memory.txn([], two);
    await world.runPending();
    expect(slow.sink.eventLines).toHaveLength(1);
    expect(slow.revision).toBe(before);
    slow.sink.room = 9;
    slow.drained();
    await world.runPending();
    expect(slow.sink.eventLines.map((told) => told.slice(0, 7)).sort()).toEqual(['ADDED a', 'ADDED b']);
    expect(slow.revision).toBe(revision);
  });

  it('is removed on close, in every phase', async () => {
    await start();
    await world.put('a');
    const watches = [
      world.watch(),
      world.watch({}, new RecordingSink(1)),
      world.watch({ start: initial }),
      world.watch({ start: after(1) }),
    ];
    await world.put('b');
    for (const watch of watches) watch.close();
    const told = watches.map(({ sink }) => sink.eventLines.length);
    await world.put('c');
    for (const watch of watches) {
      watch.drained();
      watch.sendBookmark();
    }
    await world.runPending();
    expect(watches.map(({ sink }) => sink.eventLines.length)).toEqual(told);
    expect(watches.some(({ sink }) => sink.isEnded)).toBe(false);
    expect(world.cache.watchCount).toBe(0);
  });

  it('may close itself or others during a write', async () => {
    await start();
    const watches = Array.from({ length: 6 }, () => world.watch());
    const [first, , third, , , last] = watches;
    last!.sink.write = (frame) => {
      first!.close();
      third!.close();
      last!.close();
      return RecordingSink.prototype.write.call(last!.sink, frame);
    };
    await world.put('a');
    await world.put('b');
    expect(watches.map(({ sink }) => sink.eventLines.length)).toEqual([0, 2, 0, 2, 2, 1]);
  });
});

describe('the start of a watch', () => {
  let world: CacheWorld;
  afterEach(() => world.close());

  it('in the future: sends nothing until then', async () => {
    world = await CacheWorld.started();
    const watch = world.watch({ start: after(4) });
    for (const name of ['a', 'b', 'c']) await world.put(name);
    watch.sendBookmark();
    await world.put('d');
    expect(watch.sink.eventLines).toEqual(['BOOKMARK @4', 'ADDED d@5']);
  });

  it('in the future: sends no bookmark with an earlier revision', async () => {
    world = await CacheWorld.started();
    const watch = world.watch({ start: after(99) });
    await world.put('a');
    watch.sendBookmark();
    expect(watch.sink.eventLines).toEqual([]);
    expect(watch.revision).toBe(99);
  });

  describe('before the history of the cache', () => {
    /** Two pods and a deletion before the feed starts, so that only the store has these events. */
    const withPast = async (limits: Partial<CacheLimits> = {}) => {
      world = new CacheWorld(limits);
      await world.put('a', { version: 1 });
      await world.put('a', { version: 2 });
      await world.put('b');
      await world.remove('b');
      await world.write({ type: 'put', key: '/registry/secrets/ns/s', value: Buffer.from('{}') });
      await world.feed.start();
    };

    it('reads older events from the store once for all watches, then continues live', async () => {
      await withPast();
      const storeWatch = jest.spyOn(world.store, 'watch');
      const watches = [
        world.watch({ start: after(1) }),
        world.watch({ start: after(2) }),
        world.watch({ start: after(4) }),
      ];
      await world.runPending();
      await world.put('c');
      const all = ['ADDED a@2', 'MODIFIED a@3', 'ADDED b@4', 'DELETED b@5', 'ADDED c@7'];
      expect(watches.map(({ sink }) => sink.eventLines)).toEqual([all, all.slice(1), all.slice(3)]);
      const late = world.watch({ start: after(3) });
      await world.runPending();
      expect(late.sink.eventLines).toEqual(all.slice(2));
      expect(storeWatch).toHaveBeenCalledTimes(1);
      expect(await world.cache.reach(2 as never)).toBe('inHistory');
    });

    it('ends with 410 if the store has compacted the start', async () => {
      await withPast();
      await world.memory.compact(4 as never);
      const watches = [world.watch({ start: after(1) }), world.watch({ start: after(3) })];
      await world.runPending();
      expect(watches[0]!.sink.eventLines).toEqual(['ERROR 410 too old resource version: 1 (6)']);
      expect(watches[1]!.sink.eventLines).toEqual(['ADDED b@4', 'DELETED b@5']);
      expect(await world.cache.reach(2 as never)).toBe('tooOld');
    });

    it('gets older events in chunks if they exceed the ring', async () => {
      await withPast({ historyEventsMax: 3, pastChunkEvents: 1 });
      const first = world.watch({ start: after(1) });
      const narrow = world.watch({ start: after(1), scope: `${pods}ns/b`, exactKey: true });
      await world.runPending(20);
      for (const name of ['c', 'd', 'e', 'f', 'g']) await world.put(name);
      const all = ['ADDED a@2', 'MODIFIED a@3', 'ADDED b@4', 'DELETED b@5'];
      const live = ['ADDED c@7', 'ADDED d@8', 'ADDED e@9', 'ADDED f@10', 'ADDED g@11'];
      expect(first.sink.eventLines).toEqual([...all, ...live]);
      expect(narrow.sink.eventLines).toEqual(['ADDED b@4', 'DELETED b@5']);
      const late = world.watch({ start: after(3) });
      await world.runPending(30);
      expect(late.sink.eventLines).toEqual([...all.slice(2), ...live]);
      expect(await world.cache.reach(2 as never)).toBe('tooMuch');
    });

    it('gets older events at the speed of its connection', async () => {
      await withPast({ historyEventsMax: 3, pastChunkEvents: 2 });
      const watch = world.watch({ start: after(1) }, new RecordingSink(1));
      for (let n = 1; n <= 5; n++) {
        await world.runPending(20);
        expect([watch.sink.eventLines.length, watch.sink.overruns]).toEqual([Math.min(n, 5), 0]);
        if (n === 4) await world.put('c');
        watch.sink.room = 1;
        watch.drained();
      }
      expect(watch.sink.eventLines.at(-1)).toBe('ADDED c@7');
    });

    it('ends with 410 if the store compacts the rest meanwhile', async () => {
      await withPast({ historyEventsMax: 3, pastChunkEvents: 1 });
      const watch = world.watch({ start: after(1) }, new RecordingSink(1));
      await world.runPending(20);
      await world.memory.compact(6 as never);
      watch.sink.room = 9;
      watch.drained();
      await world.runPending(20);
      expect(watch.sink.eventLines).toEqual([
        'ADDED a@2',
        expect.stringMatching(/^ERROR 410 too old resource version: 1 /),
      ]);
      expect(watch.sink.isEnded).toBe(true);
    });

    it('releases everything when its client disconnects', async () => {
      await withPast({ historyEventsMax: 3, pastChunkEvents: 1 });
      const watch = world.watch({ start: after(1) }, new RecordingSink(1));
      await world.runPending(20);
      watch.close();
      await world.runPending(20);
      expect(watch.sink.eventLines).toEqual(['ADDED a@2']);
      expect(world.cache.watchCount).toBe(0);
    });

    it('ends with 503 if the store does not answer in time', async () => {
      await withPast();
      world.store.cut();
      const { sink } = world.watch({ start: after(1) });
      world.clock.advance(11_000);
      await world.runPending();
      expect(sink.eventLines).toEqual([expect.stringMatching(/^ERROR 503/)]);
      expect(sink.isEnded).toBe(true);
    });
  });
});
