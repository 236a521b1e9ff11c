import { CacheWorld, after, initial, pods, RecordingSink } from '../../test/harness/cache-world.js';
import { SeededRng, type Rng } from '../std/rng.js';
import { checkAgainstStore } from './checker.js';
import type { Attributes } from './encoded-object.js';
import type { Subscription, WatchRequest } from './watch-cache.js';

/**
 * Random writers, and watchers that are slow, use selectors and disconnect at any time, compared with a plain log of
 * all writes. Each guarantee of a watch is a named check. SEED=n repeats one run.
 */
interface State {
  readonly color: string;
  readonly node: string;
  readonly version: number;
}
interface LogEntry {
  readonly revision: number;
  readonly key: string;
  readonly before: State | undefined;
  readonly after: State | undefined;
}
interface Selector {
  readonly request: Partial<WatchRequest>;
  selects(key: string, state: State): boolean;
}
type Told = readonly [type: string, key: string, revision: number, version: number];

const colors = ['red', 'blue'];
const nodes = ['', 'n1', 'n2'];
const names = ['a', 'b', 'c', 'd', 'e'];
const namespaces = ['ns', 'ns-2'];
const pick = <T>(rng: Rng, items: readonly T[]): T => items[rng.below(items.length)]!;

function randomSelector(rng: Rng): Selector {
  const color = pick(rng, colors);
  const node = pick(rng, nodes);
  const namespace = pick(rng, namespaces);
  const name = pick(rng, names);
  const ofNode = (attributes: Attributes) => attributes.fields['spec.nodeName'] === node;
  return pick<Selector>(rng, [
    { request: {}, selects: () => true },
    { request: { scope: `${pods}${namespace}/` }, selects: (key) => key.startsWith(`${namespace}/`) },
    {
      request: { scope: `${pods}${namespace}/${name}`, exactKey: true },
      selects: (key) => key === `${namespace}/${name}`,
    },
    {
      request: { matches: (attributes) => attributes.labels?.['color'] === color },
      selects: (_key, state) => state.color === color,
    },
    {
      request: {
        equalities: [{ field: 'spec.nodeName', value: node }],
        matches: ofNode,
        scope: `${pods}${namespace}/`,
      },
      selects: (key, state) => state.node === node && key.startsWith(`${namespace}/`),
    },
  ]);
}

/** A client that watches, resumes and keeps a state. */
class Client {
  readonly told: Told[] = [];
  readonly bookmarks: { readonly revision: number; readonly toldBefore: number }[] = [];
  sink!: RecordingSink;
  subscription!: Subscription;
  /** The expected state at its start, for a client that begins with the initial state. */
  isExpired = false;
  private taken = 0;

  constructor(
    private readonly world: CacheWorld,
    readonly selector: Selector,
    readonly start: number | 'initial',
    private readonly room: () => number,
  ) {
    this.open(start === 'initial' ? initial : after(start));
  }

  private open(start: WatchRequest['start']): void {
    this.taken = 0;
    this.sink = new RecordingSink(this.room());
    const request = { ...this.selector.request, start, initialEventsEnd: start.kind === 'initial' };
    this.subscription = this.world.watch(request, this.sink);
  }

  /** Reads the delivered frames. */
  collect(): void {
    for (const event of this.sink.events.slice(this.taken)) {
      if (event.type === 'ERROR') this.isExpired = true;
      else if (event.type === 'BOOKMARK')
        this.bookmarks.push({ revision: event.revision, toldBefore: this.told.length });
      else this.told.push([event.type, event.key, event.revision, event.object.spec!.version!]);
    }
    this.taken = this.sink.events.length;
  }

  drain(room: number): void {
    this.sink.room = room;
    this.subscription.drained();
  }

  /** Disconnects and resumes from the last complete revision; here every revision has one event. */
  resume(): void {
    this.collect();
    const known = this.subscription.revision;
    if (this.isExpired || known === 0) return;
    const revision = Math.max(known, this.told.at(-1)?.[2] ?? 0);
    this.subscription.close();
    this.open(after(revision));
  }
}

function expectedEvents(log: readonly LogEntry[], { selects }: Selector, from: number): Told[] {
  return log.flatMap(({ revision, key, before, after: now }): Told[] => {
    if (revision <= from) return [];
    const did = before !== undefined && selects(key, before);
    const does = now !== undefined && selects(key, now);
    if (does) return [[did ? 'MODIFIED' : 'ADDED', key, revision, now.version]];
    return did ? [['DELETED', key, revision, before.version]] : [];
  });
}

function expectedState(log: readonly LogEntry[], { selects }: Selector, at: number): Told[] {
  const state = new Map<string, Told>();
  for (const { revision, key, after: now } of log) {
    if (revision > at) break;
    if (now && selects(key, now)) state.set(key, ['ADDED', key, revision, now.version]);
    else state.delete(key);
  }
  return [...state.values()].sort((a, b) => (a[1] < b[1] ? -1 : 1));
}

const guarantees: Record<string, (client: Client, log: readonly LogEntry[]) => void> = {
  ordered({ told, start }) {
    if (start === 'initial') return;
    const revisions = told.map(([, , revision]) => revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  },
  unique({ told }) {
    const seen = told.map(([type, key, revision]) => `${type} ${key} ${revision}`);
    expect(new Set(seen).size).toBe(seen.length);
  },
  filtered({ told, selector }, log) {
    for (const [type, key, revision] of told) {
      const entry = log.find((other) => other.key === key && other.revision === revision)!;
      expect(selector.selects(key, (type === 'DELETED' ? entry.before : entry.after)!)).toBe(true);
    }
  },
  'reliable and resumable'({ told, selector, start, bookmarks, isExpired }, log) {
    const at = start === 'initial' ? bookmarks[0]?.revision : start;
    if (at === undefined) return;
    const want = [
      ...(start === 'initial' ? expectedState(log, selector, at) : []),
      ...expectedEvents(log, selector, at),
    ];
    expect(told).toEqual(isExpired ? want.slice(0, told.length) : want);
  },
  bookmarkable({ told, selector, start, bookmarks }, log) {
    const first = start === 'initial' ? bookmarks[0]?.revision : start;
    for (const { revision, toldBefore } of first === undefined ? [] : bookmarks) {
      const due = expectedEvents(log, selector, first!).filter((event) => event[2] <= revision);
      const state = start === 'initial' ? expectedState(log, selector, first!) : [];
      expect(told.slice(0, toldBefore)).toEqual([...state, ...due]);
    }
  },
};

async function run(seed: number): Promise<void> {
  const rng = new SeededRng(seed);
  const historyEventsMax = pick(rng, [8, 30, 10_000]);
  const world = await CacheWorld.started({
    historyEventsMin: Math.min(historyEventsMax, 20),
    historyEventsMax,
    replaySliceEvents: 3,
    applySliceEvents: 4,
    framedEventsMax: 3,
    snapshotSpacingEvents: 5,
    pastChunkEvents: pick(rng, [1, 3, 1_024]),
  });
  const log: LogEntry[] = [];
  const current = new Map<string, State>();
  const clients: Client[] = [];
  const room = () => pick(rng, [1, 2, 5, Infinity]);

  const write = async (): Promise<void> => {
    const namespace = pick(rng, namespaces);
    const name = pick(rng, names);
    const key = `${namespace}/${name}`;
    const before = current.get(key);
    if (before && rng.below(4) === 0) {
      const revision = await world.memory.txn([], [{ type: 'delete', key: `${pods}${key}` }]);
      log.push({ revision: revision.revision, key, before, after: undefined });
      current.delete(key);
      return;
    }
    const now: State = { color: pick(rng, colors), node: pick(rng, nodes), version: log.length };
    const look = { labels: { color: now.color }, node: now.node, version: now.version };
    const revision = await world.put(name, look, namespace);
    log.push({ revision, key, before, after: now });
    current.set(key, now);
    if (world.store.isCut || rng.below(5) > 0) return;
    await world.feed.consistentRevision({ timeoutMs: 1000 });
    expect(world.cache.get(`${pods}${key}`)?.revision).toBe(revision);
  };

  const actions: (() => Promise<void> | void)[] = [
    write,
    write,
    write,
    write,
    async () => {
      for (let n = rng.below(12); n > 0; n--) await write();
    },
    () => {
      const { position } = world.feed;
      const start = rng.below(3) === 0 ? 'initial' : Math.max(1, position - rng.below(20));
      clients.push(new Client(world, randomSelector(rng), start, room));
    },
    () => (clients.length > 0 ? pick(rng, clients).drain(room()) : undefined),
    () => (clients.length > 0 ? pick(rng, clients).drain(room()) : undefined),
    () => (clients.length > 0 ? pick(rng, clients).subscription.sendBookmark() : undefined),
    () => (clients.length > 0 ? pick(rng, clients).resume() : undefined),
    () => void world.cache.snapshot(),
    () => world.runPending(1),
    () => world.clock.advance(rng.below(3_000)),
    () => (world.store.isCut ? world.store.mend() : rng.below(3) === 0 ? world.store.cut() : undefined),
  ];
  for (let step = 0; step < 250; step++) await pick(rng, actions)();

  if (world.store.isCut) world.store.mend();
  for (let turn = 0; turn < 150; turn++) {
    for (const client of clients) {
      client.collect();
      client.drain(Infinity);
    }
    // Clients of a store that was interrupted try again.
    world.clock.advance(50);
    await world.runPending(6);
  }
  for (const client of clients) client.subscription.sendBookmark();
  for (const client of clients) client.collect();

  expect(clients.every(({ sink }) => sink.overruns === 0)).toBe(true);
  for (const [name, check] of Object.entries(guarantees)) {
    for (const client of clients) {
      try {
        check(client, log);
      } catch (error) {
        throw new Error(`seed ${seed}: not ${name}: ${(error as Error).message}`, { cause: error });
      }
    }
  }
  expect(await checkAgainstStore(world.feed, world.memory)).toEqual([]);
  const survivors = clients.filter(({ isExpired }) => !isExpired).length;
  if (historyEventsMax === 10_000) expect(survivors).toBe(clients.length);
  await world.close();
}

describe('watches of a random history are ordered, unique, filtered, reliable, resumable and bookmarkable', () => {
  const seeds = process.env['SEED'] ? [Number(process.env['SEED'])] : Array.from({ length: 40 }, (_, n) => n + 1);
  it.each(seeds)('seed %d', run);
});
