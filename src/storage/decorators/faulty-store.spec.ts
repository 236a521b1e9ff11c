import { revisionOf } from '../../machinery/revision.js';
import { ManualClock } from '../../std/clock.js';
import { SeededRng } from '../../std/rng.js';
import { MemoryStore } from '../backends/memory/memory-store.js';
import type { StoreEvent, Write } from '../kv-store.js';
import { FaultyStore, type FaultPlan } from './faulty-store.js';

const put = (key: string, value = key): Write => ({ type: 'put', key, value: Buffer.from(value) });
const always = { oneIn: 1 };

describe('FaultyStore', () => {
  const clock = new ManualClock();
  const faulty = (plan: Partial<FaultPlan>) => {
    const store = new MemoryStore({ clock });
    return { store, faulty: new FaultyStore(store, { clock, rng: new SeededRng(1), ...plan }) };
  };

  it('injects nothing without a plan', async () => {
    const { faulty: store } = faulty({});
    await store.txn([], [put('a')]);
    expect((await store.range('')).count).toBe(1);
  });

  it('failure: rejects without writing', async () => {
    const { store, faulty: failing } = faulty({ failure: always });
    await expect(failing.txn([], [put('a')])).rejects.toMatchObject({ code: 'unavailable' });
    await expect(failing.get('a')).rejects.toMatchObject({ code: 'unavailable' });
    expect((await store.get('a')).item).toBeUndefined();
  });

  it('lostAnswer: rejects after writing', async () => {
    const { store, faulty: losing } = faulty({ lostAnswer: always });
    await expect(losing.txn([], [put('a')])).rejects.toMatchObject({ code: 'outcomeUnknown' });
    expect((await store.get('a')).item?.value.toString()).toBe('a');
  });

  it('delay: waits for the clock, or for abort', async () => {
    const { faulty: slow } = faulty({ delay: { oneIn: 1, msMax: 100 } });
    const answers: string[] = [];
    const call = slow.get('a').then(() => answers.push('got'));
    await Promise.resolve();
    expect(answers).toEqual([]);
    clock.advance(100);
    await call;
    const controller = new AbortController();
    const given = slow.get('a', { signal: controller.signal });
    controller.abort();
    await expect(given).rejects.toMatchObject({ name: 'StorageError', code: 'unavailable' });
  });

  it('compaction: compacts history', async () => {
    const { faulty: forgetful } = faulty({ compaction: { oneIn: 1, revisionsKeptMax: 0 } });
    const { revision } = await forgetful.txn([], [put('a')]);
    await forgetful.txn([], [put('a')]);
    await expect(forgetful.get('a', { revision })).rejects.toMatchObject({ code: 'compacted' });
  });

  it('watchCut: interrupts watches, then delivers missed events once and in order', async () => {
    const { faulty: store } = faulty({ watchCut: { oneIn: 1, msMax: 50 } });
    const seen: number[] = [];
    const batches: number[] = [];
    const watch = store.watch(
      '',
      { from: revisionOf(2) },
      {
        events: (events: readonly StoreEvent[], revision) => {
          batches.push(revision);
          for (const { type, revision } of events) if (type === 'put') seen.push(revision);
        },
        progress: () => undefined,
        ended: () => undefined,
      },
    );
    for (let i = 0; i < 5; i++) await store.txn([], [put('a', `${i}`)]);
    expect(seen).toEqual([]);
    clock.advance(50);
    expect([seen, batches]).toEqual([[2, 3, 4, 5, 6], [6]]);
    await store.txn([], [put('a')]);
    store.heal();
    expect(seen).toEqual([2, 3, 4, 5, 6, 7]);
    await store.txn([], [put('a')]);
    watch.close();
    clock.advance(50);
    expect(seen).toHaveLength(6);
  });

  it('repeats the same faults with the same seed', async () => {
    const run = async () => {
      const { faulty: store } = faulty({ failure: { oneIn: 3 }, lostAnswer: { oneIn: 3 } });
      const outcomes: string[] = [];
      for (let i = 0; i < 50; i++) {
        const made = store.txn([], [put('a')]);
        outcomes.push(
          await made.then(
            () => 'ok',
            (error: Error) => error.message,
          ),
        );
      }
      return outcomes;
    };
    const outcomes = await run();
    expect(new Set(outcomes).size).toBe(3);
    expect(await run()).toEqual(outcomes);
  });
});
