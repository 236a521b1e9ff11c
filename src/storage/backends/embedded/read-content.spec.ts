import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noRevision, revisionOf, type Revision } from '../../../machinery/revision.js';
import { SeededRng } from '../../../std/rng.js';
import type { KeyValue, KvStore, StoreEvent, Write } from '../../kv-store.js';
import { MemoryStore } from '../memory/memory-store.js';
import { contentOf, type StoreContent, type WrittenRevision } from '../store-content.js';
import { EmbeddedStore } from './embedded-store.js';
import { withContent } from './read-content.js';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'read-content-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const keys = ['/a', '/a/b', '/b', '/__proto__', '/ä', '/\u{1f600}'];

/** Writes `count` revisions of a few keys each. */
async function writeTo(store: KvStore, rng: SeededRng, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const some = keys.filter(() => rng.below(3) === 0);
    const writes = (some.length > 0 ? some : ['/a']).map((key): Write => {
      if (rng.below(3) === 0) return { type: 'delete', key };
      return { type: 'put', key, value: Buffer.alloc(rng.below(10) === 0 ? 20_000 : 5, `${n}${key}`) };
    });
    await store.txn([], writes);
  }
}

const plain = (item: KeyValue | undefined) =>
  item && [item.key, item.value.toString(), item.createRevision, item.modRevision];

async function statesOf(store: KvStore, from: number): Promise<unknown[]> {
  const states: unknown[] = [];
  for (let at = from; at <= (await store.revision()); at++) {
    const { items, count } = await store.range('/', { revision: revisionOf(at) });
    states.push([at, count, items.map(plain)]);
  }
  return states;
}

/** The events from a revision on, with the previous values; or the code of the error. */
async function eventsOf(store: KvStore, from: number): Promise<unknown> {
  const head = await store.revision();
  const events: StoreEvent[] = [];
  return new Promise((resolve) => {
    const ended = (error: unknown) => resolve((error as { readonly code: unknown }).code);
    const progress = (revision: Revision) => {
      if (revision < head) return;
      watch.close();
      resolve(events.map(({ type, revision, item, previous }) => [type, revision, plain(item), plain(previous)]));
    };
    const watch = store.watch(
      '/',
      { from: revisionOf(from), withPrevious: true },
      {
        events: (more) => void events.push(...more),
        progress,
        ended,
      },
    );
    watch.requestProgress();
  });
}

const toMemory = (content: StoreContent) => MemoryStore.with(content, {});

it.each([
  ['without compaction', 1, undefined],
  ['with a compacted past', 2, 60],
  ['compacted up to its last revision', 3, 'head'],
  ['that is empty', 4, 'empty'],
] as const)(
  'a memory store with the content of an embedded one %s has equal states and events',
  async (_case, seed, compacted) => {
    const rng = new SeededRng(seed);
    const embedded = await EmbeddedStore.open({ directory, historyMs: 0 });
    if (compacted !== 'empty') await writeTo(embedded, rng, 150);
    const floor = compacted === 'head' ? await embedded.revision() : compacted === 60 ? revisionOf(60) : noRevision;
    if (floor > 0) await embedded.compact(floor);
    const first = Math.max(floor, 1);
    const want = [await statesOf(embedded, first), await eventsOf(embedded, first), await embedded.revision()];
    const starts = [first - 1, Math.min(70, await embedded.revision())];
    const others = await Promise.all(starts.map((from) => eventsOf(embedded, from)));
    await embedded.close();

    const memory = await withContent(directory, toMemory);
    expect([await statesOf(memory, first), await eventsOf(memory, first), await memory.revision()]).toEqual(want);
    expect(await Promise.all(starts.map((from) => eventsOf(memory, from)))).toEqual(others);
    if (floor > 1) {
      const past = memory.range('/', { revision: revisionOf(floor - 1) });
      await expect(past).rejects.toMatchObject({ code: 'compacted' });
    }

    // Both go on alike, also with a compaction of what was loaded.
    const again = await EmbeddedStore.open({ directory, historyMs: 0 });
    for (const store of [again, memory]) {
      await writeTo(store, new SeededRng(seed + 10), 20);
      await store.compact(revisionOf(Math.max(1, (await store.revision()) - 10)));
    }
    const from = (await again.revision()) - 10 || 1;
    expect([await statesOf(memory, from), await eventsOf(memory, from)]).toEqual([
      await statesOf(again, from),
      await eventsOf(again, from),
    ]);
    await Promise.all([again.close(), memory.close()]);
  },
);

const item = (key: string, modRevision = 5): KeyValue => ({
  key,
  value: Buffer.from('x'),
  createRevision: revisionOf(2),
  modRevision: revisionOf(modRevision),
});
async function* each<T>(...values: T[]) {
  yield* values;
}

it('content without history begins one revision later, and has no past', async () => {
  const memory = await toMemory(contentOf({ revision: revisionOf(7), pages: each([item('/b')], [item('/a', 7)]) }));
  expect(await memory.revision()).toBe(8);
  expect((await memory.range('/')).items.map(plain)).toEqual([
    ['/a', 'x', 2, 7],
    ['/b', 'x', 2, 5],
  ]);
  expect(await eventsOf(memory, 7)).toBe('compacted');
  expect(await eventsOf(memory, 8)).toEqual([]);
  await memory.close();
});

it.each([
  ['a key twice', [item('/a'), item('/a')], []],
  ['a key of a later revision', [item('/a', 8)], []],
  ['a missing revision', [item('/a')], [9]],
  ['a revision twice', [item('/a')], [8, 8]],
])('content with %s is refused', async (_case, items, numbers) => {
  const revisions = numbers.map((at): WrittenRevision => ({ revision: revisionOf(at), events: [], timeMs: 0 }));
  const content = { floor: revisionOf(7), pages: each(items), revisions: each(...revisions) };
  await expect(toMemory(content)).rejects.toMatchObject({ code: 'corrupt' });
});
