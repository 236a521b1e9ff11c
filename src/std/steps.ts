import type { Clock } from './clock.js';
import { letOthersRun } from './let-others-run.js';

/** Work that can be left between any two of its steps. */
export type Steps<T> = Generator<void, T>;

/** Other requests wait no longer than this for work in small steps. */
const turnMs = 5;

/** Does the work a few milliseconds at a time; other requests run in between. */
export async function inTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  for (let end = clock.monotonicMs() + turnMs; ;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (clock.monotonicMs() < end) continue;
    await letOthersRun();
    end = clock.monotonicMs() + turnMs;
  }
}

/** Does the work without a pause, for callers that cannot wait. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
