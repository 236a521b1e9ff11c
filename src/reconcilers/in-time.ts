import type { Clock } from '../std/clock.js';
import { sharedAbort } from '../std/shared-abort.js';

/** Returns the outcome of the call, or rejects when the signal is aborted: for calls that may ignore the signal. */
export function within<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Calls with a deadline, so that a stopping server does not wait for a store that does not answer. */
export async function inTime<T>(clock: Clock, ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = sharedAbort();
  const timer = clock.after(ms, () => deadline.abort(new Error(`not done after ${ms / 1000} s`)));
  try {
    return await within(deadline.signal, call(deadline.signal));
  } finally {
    timer.cancel();
  }
}

/** Deadline of the last writes of a stopping server. */
export const lastWriteMs = 2000;
