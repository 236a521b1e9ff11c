import { systemClock, type Clock } from '../../src/std/clock.js';

/** A system clock of which timers with one delay end only when the test says so. */
export function heldDelay(delayMs: number): { readonly clock: Clock; readonly release: () => void } {
  const held = new Set<() => void>();
  const after: Clock['after'] = (ms, task) => {
    if (ms !== delayMs) return systemClock.after(ms, task);
    held.add(task);
    return { cancel: () => void held.delete(task) };
  };
  const release = () => {
    for (const task of held) task();
    held.clear();
  };
  return { clock: { ...systemClock, after }, release };
}
