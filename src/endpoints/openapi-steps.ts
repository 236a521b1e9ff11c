import type { Clock } from '../std/clock.js';

/** Work that can be left between any two of its steps. */
export type Steps<T> = Generator<void, T>;

/** Longer than this nobody else waits for work in steps, or hardly. */
const turnMs = 5;

/** Does the work a few milliseconds at a time; everybody else has their turn between. */
export async function inTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  for (let end = clock.monotonicMs() + turnMs; ;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (clock.monotonicMs() < end) continue;
    await new Promise((resolve) => setImmediate(resolve));
    end = clock.monotonicMs() + turnMs;
  }
}
