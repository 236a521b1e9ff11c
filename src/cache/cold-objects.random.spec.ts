import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePod } from '../../test/harness/cache-world.js';
import { eventually } from '../../test/harness/eventually.js';
import { encodeStored } from '../codec/stored-object.js';
import { revisionOf, type Revision } from '../machinery/revision.js';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { SeededRng } from '../std/rng.js';
import { EmbeddedStore } from '../storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../storage/backends/memory/memory-store.js';
import { defaultCacheLimits } from './cache-limits.js';
import { checkAgainstStore } from './checker.js';
import type { EncodedObject } from './encoded-object.js';
import { Feed } from './feed.js';
import type { Snapshot } from './snapshot.js';

const prefix = '/registry/pods/';
const coldPassMs = 1_000;

/** The store reads objects again that have left memory, or they leave it compressed. */
type StoreName = 'embedded' | 'memory';

/**
 * Objects that leave memory whenever nobody reads them, on a real store that is compacted, compared with a model of all
 * states: the latest ones, those of snapshots that a list may still read, and those before each change. SEED=n repeats
 * one run.
 */
async function run(storeName: StoreName, seed: number): Promise<void> {
  const rng = new SeededRng(seed);
  const clock = new ManualClock();
  const directory = mkdtempSync(join(tmpdir(), 'keelson-cold-'));
  const store =
    storeName === 'embedded' ? await EmbeddedStore.open({ directory, clock, historyMs: 0 }) : new MemoryStore();
  const limits = { ...defaultCacheLimits, warmBytes: 0, coldPassMs, heartbeatMs: coldPassMs };
  const feed = new Feed({ store, root: '/registry/', clock, logger: silentLogger, limits });
  const cache = feed.addResource({ prefix, decode: decodePod, indexedFields: [] });
  await feed.start();
  const latest = new Map<string, string>();
  const past: { readonly snapshot: Snapshot; readonly states: ReadonlyMap<string, string> }[] = [];
  let coldMax = 0;

  const stateOf = (object: EncodedObject) => (object.parse() as { spec?: { text?: string } }).spec!.text!;
  const caughtUp = () => feed.consistentRevision({ timeoutMs: 10_000 });
  const write = async (): Promise<Revision> => {
    const name = `p${rng.below(12)}`;
    const key = `${prefix}ns/${name}`;
    if (latest.has(key) && rng.below(4) === 0) {
      latest.delete(key);
      return (await store.txn([], [{ type: 'delete', key }])).revision;
    }
    const text = String(rng.below(1e9)).padEnd(1 + rng.below(3_000), '.');
    const metadata = { name, namespace: 'ns' };
    const value = encodeStored({ kind: 'Pod', apiVersion: 'v1', metadata, spec: { text } });
    latest.set(key, text);
    return (await store.txn([], [{ type: 'put', key, value }])).revision;
  };
  const check = (snapshot: Snapshot, states: ReadonlyMap<string, string>) => {
    const found = [...snapshot.range(prefix)].map((object) => [object.key, stateOf(object)]);
    expect(new Map(found as [string, string][])).toEqual(states);
  };
  const actions: (() => Promise<unknown> | void)[] = [
    write,
    write,
    async () => {
      for (let left = rng.below(10); left > 0; left--) await write();
    },
    async () => {
      await caughtUp();
      past.push({ snapshot: cache.snapshot(), states: new Map(latest) });
    },
    () => {
      const one = past[rng.below(past.length)];
      if (one) check(one.snapshot, one.states);
    },
    async () => {
      await caughtUp();
      check(cache.snapshot(), latest);
    },
    async () => {
      const key = `${prefix}ns/p${rng.below(12)}`;
      await caughtUp();
      const object = cache.get(key);
      expect(object && stateOf(object)).toBe(latest.get(key));
    },
    async () => store.compact(revisionOf(await store.revision())),
    async () => {
      for (let passes = 0; passes < 3; passes++) clock.advance(coldPassMs);
      await caughtUp();
      const objects = [...cache.snapshot().range(prefix)];
      const cold = () => objects.filter(({ isInMemory }) => !isInMemory).length;
      if (storeName === 'memory') {
        await eventually('all objects have left memory', () => {
          clock.advance(coldPassMs);
          return cold() === objects.length;
        });
      }
      const before = cold();
      coldMax = Math.max(coldMax, before);
      expect(await checkAgainstStore(feed, store)).toEqual([]);
      expect(cold()).toBe(before);
    },
  ];
  try {
    for (let step = 0; step < 150; step++) await actions[rng.below(actions.length)]!();
    await caughtUp();
    check(cache.snapshot(), latest);
    for (const { snapshot, states } of past) check(snapshot, states);
    expect(coldMax).toBeGreaterThan(3);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await feed.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

describe('objects that leave memory are read as they were', () => {
  const seeds = process.env['SEED'] ? [Number(process.env['SEED'])] : Array.from({ length: 12 }, (_, n) => n + 1);
  const runs = seeds.flatMap((seed) => (['embedded', 'memory'] as const).map((storeName) => ({ storeName, seed })));
  it.each(runs)('on the $storeName store, seed $seed', ({ storeName, seed }) => run(storeName, seed));
});
