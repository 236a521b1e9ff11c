/** Work that can be left between any two of its steps; YieldTimer.run() lets other requests run there. */
export type Steps<T> = Generator<void, T>;

/** Does the work without a pause, for callers that cannot wait. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
