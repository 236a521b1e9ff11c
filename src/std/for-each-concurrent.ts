import { LoopYieldTimer } from './loop-yield-timer.js';
import type { Clock } from './clock.js';

/** In-memory work never waits by itself, so it yields to the event loop at this interval. */
const sliceMs = 5;

/**
 * Calls `work` for every item, at most `concurrency` at a time. After a failure no further item is started; rejects
 * with the first error when all running calls have ended.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  { concurrency, clock }: { readonly concurrency: number; readonly clock: Clock },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const yieldTimer = new LoopYieldTimer(clock, sliceMs);
  let failure: { readonly error: unknown } | undefined;
  // One yield serves all workers: while one of them runs, the event loop does not.
  let pending: Promise<void> | undefined;
  const worker = async () => {
    for (let next = waiting.next(); !failure && !next.done; next = waiting.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
      if (yieldTimer.isDue()) pending ??= yieldTimer.yield().finally(() => (pending = undefined));
      if (pending) await pending;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure) throw failure.error;
}
