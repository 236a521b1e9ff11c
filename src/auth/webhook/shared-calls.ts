import type { Cancellation } from '../../std/cancellation.js';
import type { Clock, Timer } from '../../std/clock.js';
import { sharedAbort } from '../../std/shared-abort.js';
import { abandoned, WebhookError } from './webhook-error.js';

interface Options<T> {
  /** Calls that run at the same time, and the bytes of what they ask about. */
  readonly pendingMax: number;
  readonly pendingBytesMax: number;
  readonly clock: Clock;
  /** Result of a caller that has left before the call ended. */
  readonly resultOfLeaving: T;
}

/** A running call that all callers with its key wait for. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly end: AbortController;
  waiters: number;
}

/** As kube-apiserver for tokens: limit on a call with its retries. */
const callMsMax = 30_000;

/** Calls of a webhook that are made once for all requests that need the result at the same time. */
export class SharedCalls<T> {
  private readonly flights = new Map<string, Flight<T>>();
  private pending = 0;
  private pendingBytes = 0;

  constructor(private readonly options: Options<T>) {}

  /**
   * Waits for the running call of the key, or for `call`, which never rejects and returns early when its signal is
   * aborted. Returns undefined if too many calls run. `leaves` ends the wait of this caller, and the call when nobody
   * else waits for it.
   */
  run(
    key: string,
    bytes: number,
    call: (signal: AbortSignal) => Promise<T>,
    leaves?: Cancellation,
  ): Promise<T> | undefined {
    let flight = this.flights.get(key);
    if (!flight) {
      const { pendingMax, pendingBytesMax } = this.options;
      if (this.pending >= pendingMax || this.pendingBytes + bytes > pendingBytesMax) return undefined;
      flight = this.start(key, bytes, call);
    }
    return this.wait(key, flight, leaves);
  }

  private wait(key: string, flight: Flight<T>, signal: Cancellation | undefined): Promise<T> {
    flight.waiters++;
    return new Promise((resolve) => {
      const leave = () => {
        flight.waiters--;
        if (flight.waiters === 0) {
          // Requests that come later start a call of their own.
          if (this.flights.get(key) === flight) this.flights.delete(key);
          flight.end.abort(abandoned);
        }
        resolve(this.options.resultOfLeaving);
      };
      signal?.addEventListener('abort', leave, { once: true });
      void flight.result.then((result) => {
        signal?.removeEventListener('abort', leave);
        resolve(result);
      });
    });
  }

  private start(key: string, bytes: number, call: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const end = sharedAbort();
    const timer = this.options.clock.after(callMsMax, () =>
      end.abort(new WebhookError(`there was no answer in ${callMsMax / 1000} s`)),
    );
    this.pending++;
    this.pendingBytes += bytes;
    const result = call(end.signal).then((answer) => {
      this.settle(key, bytes, flight, timer);
      return answer;
    });
    const flight: Flight<T> = { result, end, waiters: 0 };
    this.flights.set(key, flight);
    return flight;
  }

  private settle(key: string, bytes: number, flight: Flight<T>, timer: Timer): void {
    timer.cancel();
    this.pending--;
    this.pendingBytes -= bytes;
    if (this.flights.get(key) === flight) this.flights.delete(key);
  }
}
