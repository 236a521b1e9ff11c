import { ManualClock, systemClock } from './clock.js';
import { forEachConcurrent } from './for-each-concurrent.js';

const clock = new ManualClock();
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

it('calls work once per item, at most `concurrency` at a time', async () => {
  const done: number[] = [];
  let [underWay, most] = [0, 0];
  await forEachConcurrent(numbers(50), { concurrency: 4, clock }, async (item) => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    done.push(item);
  });
  expect(done.sort((a, b) => a - b)).toEqual(numbers(50));
  expect(most).toBe(4);
});

it('starts no item after a failure, and waits for running ones', async () => {
  const begun: number[] = [];
  let ended = 0;
  const work = forEachConcurrent(numbers(50), { concurrency: 3, clock }, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('one');
    await new Promise(setImmediate);
    ended++;
  });
  await expect(work).rejects.toThrow('one');
  expect([begun, ended]).toEqual([[0, 1, 2], 2]);
});

it('yields to the event loop even if the work never waits', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await forEachConcurrent(numbers(4_000), { concurrency: 16, clock: systemClock }, async () => {
    const until = performance.now() + 0.01;
    while (performance.now() < until);
  });
  isOver = true;
  expect(turns).toBeGreaterThan(2);
});
