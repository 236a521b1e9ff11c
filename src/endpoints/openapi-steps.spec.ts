import { ManualClock } from '../std/clock.js';
import { inTurns } from './openapi-steps.js';

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
