/** Work that can be interrupted between its steps; YieldTimer.run() lets other requests run there. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without interruption, for callers that cannot wait. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
