import type { CallTrace } from './call-trace.js';

/** Attempts of untilReady(): more than the versions of a custom kind that one request can need. */
const attemptsMax = 200;

/**
 * Thrown by a synchronous function that needs the answer of another server. The request has been sent: the caller waits
 * for `ready` and calls the function again.
 */
export class NotReady extends Error {
  constructor(
    readonly ready: Promise<void>,
    /** Gives the call the trace of a request that waits for it. Without effect after the turn of the event loop that began it. */
    readonly join?: (trace: CallTrace) => void,
  ) {
    super('the answer of another server is not there yet');
    // A caller that has ended does not wait.
    ready.catch(() => undefined);
  }
}

/**
 * Calls a function, and again whenever it throws NotReady or rejects with it. The function must be repeatable. Returns a
 * promise only if the function did, or was not ready. The calls that the function waits for become part of `trace`.
 */
export function untilReady<T>(run: () => T | Promise<T>, trace?: CallTrace, attempt = 1): T | Promise<T> {
  const again = (error: unknown): Promise<T> => {
    if (!(error instanceof NotReady) || attempt >= attemptsMax) throw error;
    if (trace) error.join?.(trace);
    return error.ready.then(() => untilReady(run, trace, attempt + 1));
  };
  try {
    const result = run();
    return result instanceof Promise ? result.catch(again) : result;
  } catch (error) {
    return again(error);
  }
}
