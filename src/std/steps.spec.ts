import { ManualClock } from './clock.js';
import { atOnce, inTurns } from './steps.js';

/** Every step takes `stepMs`. Returns the result, and how often others had their turn meanwhile. */
async function run(steps: number, stepMs: number) {
  const clock = new ManualClock();
  let turns = 0;
  let isRunning = true;
  const others = (): void => {
    turns++;
    if (isRunning) setImmediate(others);
  };
  const work = function* (): Generator<void, number> {
    for (let step = 0; step < steps; step++) {
      clock.advance(stepMs);
      yield;
    }
    return steps;
  };
  const done = inTurns(work(), clock);
  setImmediate(others);
  const result = await done;
  isRunning = false;
  return { result, turns };
}

it.each([
  ['no steps', 0, 1, 0],
  ['few steps', 4, 1, 0],
  ['many short steps', 50, 1, 9],
  ['long steps', 6, 40, 5],
])('%s', async (_, steps, stepMs, turnsMin) => {
  const { result, turns } = await run(steps, stepMs);
  expect(result).toBe(steps);
  expect(turns).toBeGreaterThanOrEqual(turnsMin);
  if (turnsMin === 0) expect(turns).toBe(0);
});

it('work that cannot wait is done at once', () => {
  const clock = new ManualClock();
  const begin = clock.monotonicMs();
  const work = function* (): Generator<void, string> {
    clock.advance(100);
    yield;
    clock.advance(100);
    yield;
    return 'done';
  };
  expect(atOnce(work())).toBe('done');
  expect(clock.monotonicMs() - begin).toBe(200);
});
