import { Deferred } from '../std/deferred.js';
import { ManualClock } from '../std/clock.js';
import { SeededRng } from '../std/rng.js';
import { WorkQueue, type WorkQueueOptions } from './work-queue.js';

function world(work: WorkQueueOptions['work'], options: Partial<WorkQueueOptions> = {}) {
  const clock = new ManualClock();
  const counts = { adds: 0, retries: 0, worked: 0 };
  const failures: number[] = [];
  const queue = new WorkQueue({
    clock,
    rng: new SeededRng(1),
    work,
    failed: (_item, _error, retryInMs) => failures.push(retryInMs),
    observer: {
      added: () => counts.adds++,
      taken: () => undefined,
      worked: () => counts.worked++,
      retried: () => counts.retries++,
    },
    ...options,
  });
  return { queue, clock, counts, failures };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

it('processes an item once, however often it is added while it waits', async () => {
  const seen: string[] = [];
  const { queue, counts } = world(async (item) => void seen.push(item));
  for (const item of ['a', 'b', 'a', 'b', 'a']) queue.add(item);
  await settled();
  // The first item was being processed when it was added again.
  expect(seen).toEqual(['a', 'b', 'a']);
  expect(counts).toEqual({ adds: 3, retries: 0, worked: 3 });
});

it('lets the event loop run between items', async () => {
  let done = 0;
  const { queue } = world(async () => void done++);
  for (let item = 0; item < 1000; item++) queue.add(String(item));
  const seen: number[] = [];
  while (done < 1000) {
    await settled();
    seen.push(done);
  }
  expect(seen.length).toBeGreaterThanOrEqual(5);
});

it('processes an item again if it was added meanwhile, and never twice at the same time', async () => {
  const gates: Deferred<void>[] = [];
  const { queue } = world(
    () => {
      gates.push(new Deferred());
      return gates.at(-1)!.promise;
    },
    { workersMax: 2 },
  );
  queue.add('a');
  await settled();
  queue.add('a');
  queue.add('a');
  await settled();
  expect(gates).toHaveLength(1);
  gates[0]!.resolve();
  await settled();
  expect(gates).toHaveLength(2);
  gates[1]!.resolve();
  await settled();
  expect(gates).toHaveLength(2);
});

it('processes no more than workersMax items at the same time', async () => {
  const gates = new Map<string, Deferred<void>>();
  const { queue } = world(
    (item) => {
      gates.set(item, new Deferred());
      return gates.get(item)!.promise;
    },
    { workersMax: 2 },
  );
  for (const item of ['a', 'b', 'c']) queue.add(item);
  await settled();
  expect([...gates.keys()]).toEqual(['a', 'b']);
  expect(queue.depth).toBe(1);
  gates.get('a')!.resolve();
  await settled();
  expect([...gates.keys()]).toEqual(['a', 'b', 'c']);
});

it('retries failed items with doubled delays, from the minimum again after a success', async () => {
  let fails = true;
  let runs = 0;
  const { queue, clock, failures, counts } = world(
    async () => {
      runs++;
      if (fails) throw new Error('no');
    },
    { retryDelayMinMs: 10, retryDelayMaxMs: 50 },
  );
  queue.add('a');
  await settled();
  for (let n = 0; n < 4; n++) {
    clock.advance(60);
    await settled();
  }
  expect(failures.map((ms) => Math.floor(ms / 10) * 10)).toEqual([10, 20, 40, 50, 50]);
  fails = false;
  clock.advance(60);
  await settled();
  expect(runs).toBe(6);
  fails = true;
  queue.add('a');
  await settled();
  expect(failures.at(-1)).toBeLessThan(12);
  expect(counts.retries).toBe(6);
});

it('processes an item after againInMs, or earlier if it is added', async () => {
  let runs = 0;
  const { queue, clock } = world(async () => {
    runs++;
    return runs === 1 ? { againInMs: 1000 } : undefined;
  });
  queue.add('a');
  await settled();
  queue.add('a');
  await settled();
  expect(runs).toBe(2);
  clock.advance(2000);
  await settled();
  expect(runs).toBe(2);
});

it('stop() aborts running items, waits for them and starts no others', async () => {
  const seen: string[] = [];
  const { queue, clock } = world(
    (item, signal) =>
      new Promise<void>((_, reject) => {
        seen.push(item);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  );
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  await settled();
  await queue.stop();
  queue.add('d');
  clock.advance(1000);
  await settled();
  expect(seen).toEqual(['a']);
});

it('delayMs delays added items; adding them again does not extend it, addAfter() does not shorten it', async () => {
  const seen: string[] = [];
  let delayMs = 1000;
  const { queue, clock } = world(async (item) => void seen.push(item), { delayMs: () => delayMs });
  queue.add('a');
  queue.addAfter('b', 10);
  clock.advance(500);
  queue.add('a');
  clock.advance(499);
  await settled();
  expect(seen).toEqual([]);
  clock.advance(1);
  await settled();
  expect(seen).toEqual(['a', 'b']);
  delayMs = 0;
  queue.add('a');
  await settled();
  expect(seen).toEqual(['a', 'b', 'a']);
});
