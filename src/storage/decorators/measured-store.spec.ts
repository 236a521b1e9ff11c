import { revisionOf } from '../../machinery/revision.js';
import { ManualClock } from '../../std/clock.js';
import { SeededRng } from '../../std/rng.js';
import { MemoryStore } from '../backends/memory/memory-store.js';
import { FaultyStore } from './faulty-store.js';
import { MeasuredStore } from './measured-store.js';

it('reports duration and outcome of each call', async () => {
  const clock = new ManualClock();
  const told: unknown[] = [];
  const slow = new FaultyStore(new MemoryStore({ clock }), {
    clock,
    rng: new SeededRng(1),
    delay: { oneIn: 1, msMax: 1_000 },
  });
  const store = new MeasuredStore(slow, (...call) => told.push(call), clock);
  const after = async (call: Promise<unknown>) => {
    clock.advance(2_000);
    await call.catch(() => undefined);
  };
  const write = { type: 'put', key: 'a', value: Buffer.from('a') } as const;
  await after(store.txn([], [write]));
  await after(store.txn([{ key: 'a', modRevision: revisionOf(9) }], [write]));
  await after(store.get('a'));
  await after(store.range('', { revision: revisionOf(99) }));
  await after(store.revision());
  await after(store.compact(revisionOf(2)));
  await after(store.range('', { revision: revisionOf(1) }));
  expect(told).toEqual([
    ['txn', 2, 'ok', 'a'],
    ['txn', 2, 'conflict', 'a'],
    ['get', 2, 'ok', 'a'],
    ['range', 2, 'futureRevision', ''],
    ['revision', 2, 'ok', ''],
    ['compact', 2, 'ok', ''],
    ['range', 2, 'compacted', ''],
  ]);
});
