import type { Clock, Timer } from '../std/clock.js';
import { sharedAbort } from '../std/shared-abort.js';

/** Aborts a call after a time, or with the signal of its caller. */
export class Deadline {
  private readonly abort = sharedAbort();
  private readonly timer: Timer;
  readonly signal: AbortSignal = this.abort.signal;

  constructor(
    clock: Clock,
    timeoutMs: number,
    timeoutError: () => Error,
    private readonly caller: AbortSignal | undefined,
  ) {
    this.timer = clock.after(timeoutMs, () => this.abort.abort(timeoutError()));
    if (caller?.aborted) this.callerAborted();
    else caller?.addEventListener('abort', this.callerAborted, { once: true });
  }

  /** Settles as `promise`, or rejects with the reason of the abort. */
  wait<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const aborted = () => reject(signal.reason);
      if (signal.aborted) aborted();
      signal.addEventListener('abort', aborted, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
    });
  }

  /** Leaves the call to the signal of its caller. */
  cancelTimer(): void {
    this.timer.cancel();
  }

  end(): void {
    this.timer.cancel();
    this.caller?.removeEventListener('abort', this.callerAborted);
  }

  private readonly callerAborted = () => this.abort.abort(this.caller?.reason);
}
