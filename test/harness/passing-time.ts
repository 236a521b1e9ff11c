import type { ManualClock } from '../../src/std/clock.js';

/**
 * Advances the clock in small steps until the work is done: a start waits for its caches, a stop for its connections.
 */
export async function whilePassing<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  while (!isOver) {
    clock.advance(1);
    await new Promise<void>((resolve) => setTimeout(resolve, 2));
  }
  return done;
}

/** Advances the clock in steps, so that timers set by other timers run. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    clock.advance(Math.min(left, 10_000));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
