// Long work in slices, between which the browser draws frames and handles keys.

const sliceMs = 12;

/** Runs a generator to its end, in slices; resolves with what it returns, or with undefined if the signal is aborted. */
export async function inSlices(steps, signal) {
  for (;;) {
    const endMs = performance.now() + sliceMs;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < endMs);
    await nextTask();
    if (signal?.aborted) return undefined;
  }
}

/** Runs a generator to its end at once. */
export function atOnce(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const nextTask = () =>
  globalThis.scheduler?.yield ? globalThis.scheduler.yield() : new Promise((resolve) => setTimeout(resolve));
