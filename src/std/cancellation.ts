import { sharedAbort } from './shared-abort.js';

/**
 * The end of a caller's interest in a call. An AbortSignal is one; so is a `Canceller`, which costs a request that is
 * not cancelled a hundredth of an AbortController.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export class Canceller implements Cancellation {
  private error: Error | undefined = undefined;
  private listeners: (() => void)[] = [];
  private controller: AbortController | undefined = undefined;

  get aborted(): boolean {
    return this.error !== undefined;
  }
  get reason(): unknown {
    return this.error;
  }

  /** Adds a listener that runs once at most. A listener added after the cancellation never runs, as with AbortSignal. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.error) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.lastIndexOf(listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }

  /** Cancels for the given reason; a second call has no effect. */
  cancel(reason: Error): void {
    if (this.error) return;
    this.error = reason;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  /** The same cancellation as an AbortSignal, created on first use. */
  get abortSignal(): AbortSignal {
    if (this.controller) return this.controller.signal;
    const controller = (this.controller = sharedAbort());
    if (this.error) controller.abort(this.error);
    else this.listeners.push(() => controller.abort(this.error));
    return controller.signal;
  }
}

/** Returns the AbortSignal of a cancellation, for functions that accept nothing else, such as `fetch`. */
export function abortSignalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof Canceller) return cancellation.abortSignal;
  const controller = sharedAbort();
  const abort = () => controller.abort(cancellation.reason);
  if (cancellation.aborted) abort();
  else cancellation.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
