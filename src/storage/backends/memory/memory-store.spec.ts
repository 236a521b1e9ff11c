import fc from 'fast-check';
import { revisionOf, type Revision } from '../../../machinery/revision.js';
import { ManualClock } from '../../../std/clock.js';
import type { StoreEvent, Write } from '../../kv-store.js';
import { MemoryStore } from './memory-store.js';
import { SortedKeys } from './sorted-keys.js';

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const anyKey = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', '/', '\uffff', '\u{1f600}') }),
);

describe('SortedKeys', () => {
  it('behaves like a sorted list', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 200 }), anyKey, anyKey, (keys, prefix, suffix) => {
        const sorted = new SortedKeys();
        const model = new Set<string>();
        for (const key of keys) {
          if (model.delete(key)) sorted.remove(key);
          else {
            model.add(key);
            sorted.add(key);
          }
        }
        const from = prefix + suffix;
        const want = [...model].filter((key) => bytewise(key, from) >= 0).sort(bytewise);
        expect([...sorted.from(from)]).toEqual(want);
        expect(sorted.count(prefix, from)).toBe(want.filter((key) => key.startsWith(prefix)).length);
      }),
    );
  });

  it('splits and removes chunks', () => {
    const sorted = new SortedKeys();
    const keys = Array.from({ length: 5_000 }, (_, i) => `${(i * 7_919) % 5_000}`.padStart(4, '0'));
    for (const key of keys) sorted.add(key);
    expect(sorted.count('', '')).toBe(5_000);
    expect(sorted.count('12', '1234')).toBe(66);
    for (const key of keys.slice(0, 4_990)) sorted.remove(key);
    expect([...sorted.from('')]).toEqual(keys.slice(4_990).sort());
  });
});

describe('MemoryStore', () => {
  const put = (key: string, value: string): Write => ({ type: 'put', key, value: Buffer.from(value) });

  it('keeps history for historyMs, and compacts it at the next interval', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock, historyMs: 60_000, compactionIntervalMs: 10_000 });
    const { revision: first } = await store.txn([], [put('a', '1')]);
    const { revision: second } = await store.txn([], [put('a', '2')]);
    clock.advance(55_000);
    await settled();
    expect((await store.get('a', { revision: first })).item?.value.toString()).toBe('1');
    clock.advance(20_000);
    await settled();
    await expect(store.get('a', { revision: first })).rejects.toMatchObject({ code: 'compacted' });
    expect((await store.get('a', { revision: second })).item?.value.toString()).toBe('2');
    await store.close();
  });

  it('keeps all history if historyMs is 0', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock, historyMs: 0 });
    const { revision } = await store.txn([], [put('a', '1')]);
    await store.txn([], [put('a', '2')]);
    clock.advance(30 * 24 * 3_600_000);
    await settled();
    expect((await store.get('a', { revision })).item?.value.toString()).toBe('1');
    await store.close();
  });

  it('compacts younger history that takes more than historyBytesMax, and ends no watch of the latest events', async () => {
    const store = new MemoryStore({ clock: new ManualClock(), historyBytesMax: 1_000_000 });
    const { revision: first } = await store.txn([], [put('kept', 'x')]);
    const seen: number[] = [];
    let ended: unknown;
    store.watch(
      '',
      { from: revisionOf(first + 1) },
      {
        events: (_events, revision) => void seen.push(revision),
        progress: () => undefined,
        ended: (error) => (ended = error),
      },
    );
    const revisions: Revision[] = [];
    for (let n = 0; n < 50; n++) {
      revisions.push((await store.txn([], [put('a', 'y'.repeat(100_000))])).revision);
      await settled();
    }
    const isKept = async (revision: Revision) =>
      store.get('a', { revision }).then(
        () => true,
        () => false,
      );
    const kept = (await Promise.all(revisions.map(isKept))).filter(Boolean).length;
    expect(kept).toBeGreaterThanOrEqual(7);
    expect(kept).toBeLessThanOrEqual(11);
    expect((await store.get('kept')).item?.value.toString()).toBe('x');
    expect(ended).toBeUndefined();
    expect(seen).toEqual(revisions);
    await store.close();
  });
});

/** The task of a timer runs a few microtasks after the clock has advanced. */
const settled = () => new Promise(setImmediate);

describe('a value that a keeper has', () => {
  it('is read from the keeper until it is compacted', async () => {
    const store = new MemoryStore({ compactionIntervalMs: 0 });
    const value = Buffer.from('kept');
    let holders = 0;
    const keeper = { storedValue: () => value, hold: () => void holders++, release: () => void holders-- };
    const delivered = new Promise<StoreEvent>((resolve) => {
      const sink = {
        events: ([event]: readonly StoreEvent[]) => resolve(event!),
        progress: () => undefined,
        ended: () => undefined,
      };
      store.watch('/a', { from: 1 as never }, sink);
    });
    await store.txn([], [{ type: 'put', key: '/a', value: Buffer.from('kept') }]);
    (await delivered).item!.keepIn!(keeper);
    expect((await store.get('/a')).item?.value).toBe(value);
    expect((await store.range('/')).items[0]?.value).toBe(value);
    const { revision } = await store.txn([], [{ type: 'put', key: '/a', value: Buffer.from('other') }]);
    expect(holders).toBe(1);
    await store.compact(revision);
    expect(holders).toBe(0);
    await store.close();
  });
});
