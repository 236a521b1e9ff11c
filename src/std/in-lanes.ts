import { Breather } from './breather.js';
import type { Clock } from './clock.js';

/** Work on what is in memory never waits by itself: others get their turn at least as often. */
const sliceMs = 5;

/**
 * Works on every item, so many at a time. After a failure nothing more is begun, and it is told when all that was under
 * way has ended.
 */
export async function inLanes<T>(
  items: Iterable<T>,
  { lanes, clock }: { readonly lanes: number; readonly clock: Clock },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const breather = new Breather(clock, sliceMs);
  let failure: { readonly error: unknown } | undefined;
  // One of them rests for all: as long as any goes on, the event loop does not.
  let rest: Promise<void> | undefined;
  const lane = async () => {
    for (let next = waiting.next(); !failure && !next.done; next = waiting.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
      if (breather.isDue()) rest ??= breather.rest().finally(() => (rest = undefined));
      if (rest) await rest;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (failure) throw failure.error;
}
