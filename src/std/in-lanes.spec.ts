import { ManualClock, systemClock } from './clock.js';
import { inLanes } from './in-lanes.js';

const clock = new ManualClock();
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

it('works on every item once, and on so many at a time', async () => {
  const done: number[] = [];
  let [underWay, most] = [0, 0];
  await inLanes(numbers(50), { lanes: 4, clock }, async (item) => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    done.push(item);
  });
  expect(done.sort((a, b) => a - b)).toEqual(numbers(50));
  expect(most).toBe(4);
});

it('begins nothing after a failure, and waits for what is under way', async () => {
  const begun: number[] = [];
  let ended = 0;
  const work = inLanes(numbers(50), { lanes: 3, clock }, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('one');
    await new Promise(setImmediate);
    ended++;
  });
  await expect(work).rejects.toThrow('one');
  expect([begun, ended]).toEqual([[0, 1, 2], 2]);
});

it('lets others at the event loop, though nothing of it waits', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await inLanes(numbers(4_000), { lanes: 16, clock: systemClock }, async () => {
    const until = performance.now() + 0.01;
    while (performance.now() < until);
  });
  isOver = true;
  expect(turns).toBeGreaterThan(2);
});
