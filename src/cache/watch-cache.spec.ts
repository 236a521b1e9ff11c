import {
  after,
  CacheWorld,
  initial,
  jsonRendering,
  pods,
  RecordingSink,
  type PodLook,
} from '../../test/harness/cache-world.js';
import type { Attributes } from './encoded-object.js';
import type { WatchRequest } from './watch-cache.js';

const red = (attributes: Attributes) => attributes.labels?.['color'] === 'red';
const look: Record<string, PodLook> = { red: { labels: { color: 'red' } }, blue: { labels: { color: 'blue' } } };

describe('WatchCache', () => {
  let world: CacheWorld;
  beforeEach(async () => {
    world = await CacheWorld.started();
  });
  afterEach(() => world.close());

  describe('event types under a selector', () => {
    it.each([
      { from: undefined, to: 'red', all: 'ADDED', selected: 'ADDED' },
      { from: undefined, to: 'blue', all: 'ADDED', selected: undefined },
      { from: 'red', to: 'red', all: 'MODIFIED', selected: 'MODIFIED' },
      { from: 'red', to: 'blue', all: 'MODIFIED', selected: 'DELETED' },
      { from: 'blue', to: 'red', all: 'MODIFIED', selected: 'ADDED' },
      { from: 'blue', to: 'blue', all: 'MODIFIED', selected: undefined },
      { from: 'red', to: undefined, all: 'DELETED', selected: 'DELETED' },
      { from: 'blue', to: undefined, all: 'DELETED', selected: undefined },
    ])('$from -> $to', async ({ from, to, all, selected }) => {
      if (from) await world.put('a', look[from]);
      const everything = world.watch();
      const selective = world.watch({ matches: red });
      const revision = to ? await world.put('a', look[to]) : await world.remove('a');
      expect(everything.sink.eventLines).toEqual([`${all} a@${revision}`]);
      expect(selective.sink.eventLines).toEqual(selected ? [`${selected} a@${revision}`] : []);
    });

    it('DELETED has the last matching state with the resourceVersion of the event', async () => {
      await world.put('a', { ...look['red'], version: 7 });
      const { sink } = world.watch({ matches: red });
      await world.put('a', { ...look['blue'], version: 8 });
      expect(sink.events[0]!.object).toMatchObject({ metadata: { labels: { color: 'red' } }, spec: { version: 7 } });
    });
  });

  describe('a watcher gets the events of its scope from every index', () => {
    const at = (value: string) => [{ field: 'spec.nodeName', value }];
    const onNode = (value: string) => (attributes: Attributes) => attributes.fields['spec.nodeName'] === value;
    const rows: { name: string; request: Partial<WatchRequest>; want: string[] }[] = [
      {
        name: 'everything',
        request: {},
        want: ['ADDED a', 'ADDED b', 'ADDED a', 'MODIFIED a', 'MODIFIED b', 'DELETED a'],
      },
      {
        name: 'one namespace',
        request: { scope: `${pods}ns/` },
        want: ['ADDED a', 'ADDED b', 'MODIFIED a', 'MODIFIED b', 'DELETED a'],
      },
      { name: 'another', request: { scope: `${pods}ns-2/` }, want: ['ADDED a'] },
      {
        name: 'one object',
        request: { scope: `${pods}ns/a`, exactKey: true },
        want: ['ADDED a', 'MODIFIED a', 'DELETED a'],
      },
      {
        name: 'a node',
        request: { equalities: at('n1'), matches: onNode('n1') },
        want: ['ADDED b', 'ADDED a', 'DELETED b', 'DELETED a'],
      },
      {
        name: 'no node',
        request: { equalities: at(''), matches: onNode('') },
        want: ['ADDED a', 'ADDED a', 'DELETED a'],
      },
      {
        name: 'a node in a namespace',
        request: { scope: `${pods}ns-2/`, equalities: at(''), matches: onNode('') },
        want: ['ADDED a'],
      },
      {
        name: 'a field that is not indexed',
        request: { equalities: [{ field: 'x', value: 'y' }] },
        want: ['ADDED a', 'ADDED b', 'ADDED a', 'MODIFIED a', 'MODIFIED b', 'DELETED a'],
      },
    ];
    it.each(rows)('$name', async ({ request, want }) => {
      const start = world.feed.position;
      const live = world.watch(request);
      await world.put('a');
      await world.put('b', { node: 'n1' });
      await world.put('a', {}, 'ns-2');
      await world.put('a', { node: 'n1' });
      await world.put('b', { node: 'n2' });
      await world.remove('a');
      const late = world.watch({ ...request, start: after(start) });
      await world.runPending();
      for (const { sink } of [live, late]) expect(sink.eventLines.map((told) => told.replace(/@.*/, ''))).toEqual(want);
    });
  });

  it('sends the same buffer to watchers with the same rendering', async () => {
    const watches = [
      world.watch(),
      world.watch({ scope: `${pods}ns/` }),
      world.watch({ scope: `${pods}ns/a`, exactKey: true }),
    ];
    await world.put('a');
    const [first, ...others] = watches.map(({ sink }) => sink.frames[0]);
    for (const other of others) expect(other).toBe(first);
  });

  describe('the initial state', () => {
    it.each([
      { name: 'of everything', request: {}, want: ['ADDED a@2', 'ADDED b@3', 'ADDED c@4'] },
      { name: 'of one object', request: { scope: `${pods}ns/b`, exactKey: true }, want: ['ADDED b@3'] },
      { name: 'of an object that is not there', request: { scope: `${pods}ns/x`, exactKey: true }, want: [] },
      { name: 'of a selection', request: { matches: red }, want: ['ADDED a@2', 'ADDED c@4'] },
    ])('$name is sent in order, then the bookmark, then changes', async ({ request, want }) => {
      for (const [name, color] of [
        ['a', 'red'],
        ['b', 'blue'],
        ['c', 'red'],
      ] as const)
        await world.put(name, look[color]);
      const { sink } = world.watch({ ...request, start: initial, initialEventsEnd: true });
      expect(sink.eventLines).toEqual([]);
      const concerns = request.exactKey ? [] : ['ADDED d@5'];
      await world.put('d', look['red']);
      expect(sink.eventLines).toEqual([...want, 'BOOKMARK @4 end', ...concerns]);
    });
  });

  describe('bookmarks', () => {
    it('have the position of the feed, for watchers that requested bookmarks', async () => {
      const watches = [world.watch(), world.watch({ bookmarks: false }), world.watch({ matches: red })];
      const revision = await world.write({ type: 'put', key: '/registry/secrets/ns/s', value: Buffer.from('{}') });
      for (const watch of watches) watch.sendBookmark();
      const told = [`BOOKMARK @${revision}`];
      expect(watches.map(({ sink }) => sink.eventLines)).toEqual([told, [], told]);
      expect(watches[0]!.sink.frames[0]).toBe(watches[2]!.sink.frames[0]);
    });

    it('never exceed the last event sent to a slow watcher', async () => {
      const watch = world.watch({}, new RecordingSink(1));
      const first = await world.put('a');
      await world.put('b');
      watch.sendBookmark();
      expect(watch.revision).toBe(first);
      expect(watch.sink.eventLines).toEqual([`ADDED a@${first}`]);
    });
  });

  it('does not send a corrupt object, and sends DELETED to watchers that had it', async () => {
    await world.put('a');
    const { sink } = world.watch();
    const revision = await world.write({ type: 'put', key: `${pods}ns/a`, value: Buffer.from('{"kind":') });
    expect(world.cache.get(`${pods}ns/a`)!.corruption).toBeInstanceOf(Error);
    expect(() => world.cache.get(`${pods}ns/a`)!.parse()).toThrow();
    expect(world.cache.get(`${pods}ns/a`)!.attributes).toMatchObject({ namespace: 'ns', name: 'a' });
    const healed = await world.put('a');
    expect(sink.eventLines).toEqual([`DELETED a@${revision}`, `ADDED a@${healed}`]);
  });

  it('ends a watch with an ERROR event if its rendering throws', async () => {
    const broken = world.watch({
      rendering: {
        ...jsonRendering,
        id: 'broken',
        render: () => {
          throw new Error('no');
        },
      },
    });
    const healthy = world.watch();
    await world.put('a');
    expect(broken.sink.eventLines[0]).toMatch(/^ERROR 500/);
    expect(broken.sink.isEnded).toBe(true);
    expect(healthy.sink.eventLines).toHaveLength(1);
    expect(world.cache.watchCount).toBe(1);
  });

  describe('snapshots', () => {
    const names = (
      state: { range(prefix: string): Iterable<{ attributes: Attributes; revision: number }> } | undefined,
    ) => state && Array.from(state.range(pods), ({ attributes, revision }) => `${attributes.name}@${revision}`);

    it('are exact for every revision of the history', async () => {
      const states = new Map<number, string[]>();
      for (let n = 0; n < 200; n++) {
        if (n % 7 === 6) await world.remove(`p${(n * 5) % 23}`);
        else await world.put(`p${(n * 5) % 23}`);
        const state = await world.memory.range(pods);
        states.set(
          world.feed.position,
          state.items.map(({ key, modRevision }) => `${key.split('/').at(-1)}@${modRevision}`),
        );
        if (n % 31 === 0) world.cache.snapshot();
      }
      for (const [revision, want] of states) {
        const snapshot = world.cache.snapshotAt(revision as never);
        expect(snapshot?.revision).toBe(revision);
        expect(names(snapshot)).toEqual(want);
      }
    });

    it('are immutable, and count their keys', async () => {
      await world.put('a');
      await world.put('b');
      await world.put('a', {}, 'ns-2');
      const before = world.cache.snapshot();
      await world.remove('a');
      await world.put('z');
      expect([before.size, before.count(`${pods}ns/`), before.count(`${pods}ns/`, `${pods}ns/b`)]).toEqual([3, 2, 1]);
      expect(before.get(`${pods}ns/a`)).toBeDefined();
      expect(names(before)).toEqual(['a@4', 'a@2', 'b@3']);
      expect(names(world.cache.snapshot())).toEqual(['a@4', 'b@3', 'z@6']);
    });

    it('expire 75 seconds after the feed has moved on, also by events of other resources', async () => {
      const revision = await world.put('a');
      world.clock.advance(600_000);
      expect(world.cache.snapshotAt(revision)).toBeDefined();
      await world.write({ type: 'put', key: '/registry/secrets/ns/s', value: Buffer.from('{}') });
      world.clock.advance(74_000);
      expect(names(world.cache.snapshotAt(revision))).toEqual([`a@${revision}`]);
      world.clock.advance(3_000);
      expect(world.cache.snapshotAt(revision)).toBeUndefined();
    });

    it('are undefined for future revisions and revisions before the history', async () => {
      const first = await world.put('a');
      const other = await CacheWorld.started();
      expect(world.cache.snapshotAt((first + 1) as never)).toBeUndefined();
      expect(other.cache.snapshotAt(0 as never)).toBeUndefined();
      await other.close();
    });
  });

  describe('observers', () => {
    it('that throw do not affect other observers and watchers', async () => {
      const seen: string[] = [];
      const failing = () => {
        throw new Error('odd object');
      };
      world.cache.observe({ changed: failing, reset: () => undefined });
      world.cache.observe({ changed: ({ key }) => seen.push(key), reset: () => undefined });
      await world.put('a');
      await world.put('b');
      expect(seen).toEqual([`${pods}ns/a`, `${pods}ns/b`]);
      expect(world.cache.snapshot().size).toBe(2);
    });
  });
});
