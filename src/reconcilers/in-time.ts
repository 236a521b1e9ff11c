import type { Clock } from '../std/clock.js';
import { sharedAbort } from '../std/shared-abort.js';

/** The outcome of the call, unless the signal comes first: for calls that may not listen to it. */
export function within<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** A server that stops does not wait for a store that is away. */
export async function inTime<T>(clock: Clock, ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const patience = sharedAbort();
  const timer = clock.after(ms, () => patience.abort(new Error(`not done after ${ms / 1000} s`)));
  try {
    return await within(patience.signal, call(patience.signal));
  } finally {
    timer.cancel();
  }
}

/** For a last word to the store. */
export const partingMs = 2000;
