import { createHmac } from 'node:crypto';
import type { Cancellation } from '../../std/cancellation.js';
import type { Clock, Timer } from '../../std/clock.js';
import { systemRng } from '../../std/rng.js';
import { sharedAbort } from '../../std/shared-abort.js';
import type { Authenticated, Rejected } from '../authenticator.js';
import type { TokenCacheObserver } from '../token-cache-observer.js';
import { ExpiringResults } from './expiring-results.js';
import { WebhookError } from './webhook-error.js';

type Result = Authenticated | Rejected;

/** Result of asking for one token. */
export interface Lookup {
  readonly result: Result;
  /** False if there was no answer: the next request asks again. */
  readonly isAnswered: boolean;
  /** Approximate size of the result. */
  readonly bytes: number;
}

interface Options {
  /** Asks for a token. Never rejects; returns early when the signal is aborted. */
  readonly lookUp: (token: string, audiences: readonly string[], signal: AbortSignal) => Promise<Lookup>;
  /** Time for which answers are kept. */
  readonly ttlMs: number;
  readonly limits: LookupLimits;
  readonly clock: Clock;
  readonly observer: TokenCacheObserver;
}

export interface LookupLimits {
  /** Results that are kept, of accepted and of rejected tokens each. */
  readonly entriesMax: number;
  readonly bytesMax: number;
  /** Tokens that are asked for at the same time, and their bytes. */
  readonly pendingMax: number;
  readonly pendingBytesMax: number;
}

/** A running lookup that all requests with its token wait for. */
interface Flight {
  readonly lookup: Promise<Lookup>;
  readonly end: AbortController;
  waiters: number;
}

/** As kube-apiserver: limit on a lookup with its retries. */
const lookupMsMax = 30_000;
export const abandoned = new WebhookError('no request waits for the result');
const crowded: Rejected = { rejected: 'too many tokens wait for the token webhook' };

/**
 * Asks for tokens, once for all requests that need the result at the same time, and keeps results for a time. Tokens are
 * keys only as HMACs with a random key, so that memory and lookup times do not reveal them. Accepted and rejected tokens
 * are kept apart: rejected ones, which anybody can send, do not displace accepted ones.
 */
export class SharedLookups {
  private readonly accepted: ExpiringResults<Result>;
  private readonly rejected: ExpiringResults<Result>;
  private readonly flights = new Map<string, Flight>();
  private readonly hmacKey = `${systemRng.uuid()}${systemRng.uuid()}`;
  private pending = 0;
  private pendingBytes = 0;

  constructor(private readonly options: Options) {
    const results = () => new ExpiringResults<Result>({ ...options, ...options.limits });
    [this.accepted, this.rejected] = [results(), results()];
  }

  /** `caller.signal` ends the wait of this request, and the lookup when no other request waits for it. */
  find(
    token: string,
    audiences: readonly string[],
    caller?: { readonly signal: Cancellation | undefined },
  ): Result | Promise<Result> {
    const { observer } = this.options;
    const key = this.keyOf(token, audiences);
    const known = this.accepted.get(key) ?? this.rejected.get(key);
    if (known) {
      observer.hit();
      return known;
    }
    if (caller?.signal?.aborted) return 'rejected';
    let flight = this.flights.get(key);
    if (!flight) {
      if (this.isCrowded(token)) return crowded;
      flight = this.start(key, token, audiences);
    }
    return this.wait(key, flight, caller?.signal).finally(observer.miss());
  }

  private wait(key: string, flight: Flight, signal: Cancellation | undefined): Promise<Result> {
    flight.waiters++;
    return new Promise((resolve) => {
      const leave = () => {
        flight.waiters--;
        if (flight.waiters === 0) {
          // Requests that come later start a lookup of their own.
          if (this.flights.get(key) === flight) this.flights.delete(key);
          flight.end.abort(abandoned);
        }
        resolve('rejected');
      };
      signal?.addEventListener('abort', leave, { once: true });
      void flight.lookup.then(({ result }) => {
        signal?.removeEventListener('abort', leave);
        resolve(result);
      });
    });
  }

  private start(key: string, token: string, audiences: readonly string[]): Flight {
    const { lookUp, clock, observer } = this.options;
    const end = sharedAbort();
    const timer = clock.after(lookupMsMax, () =>
      end.abort(new WebhookError(`there was no answer in ${lookupMsMax / 1000} s`)),
    );
    const fetched = observer.fetch();
    this.pending++;
    this.pendingBytes += token.length;
    const lookup = lookUp(token, audiences, end.signal).then((found) => {
      this.settle(key, token, flight, timer);
      fetched(found.isAnswered);
      if (found.isAnswered) this.keep(key, found);
      return found;
    });
    const flight: Flight = { lookup, end, waiters: 0 };
    this.flights.set(key, flight);
    return flight;
  }

  private settle(key: string, token: string, flight: Flight, timer: Timer): void {
    timer.cancel();
    this.pending--;
    this.pendingBytes -= token.length;
    if (this.flights.get(key) === flight) this.flights.delete(key);
  }

  private keep(key: string, { result, bytes }: Lookup): void {
    const isAccepted = typeof result === 'object' && 'user' in result;
    (isAccepted ? this.accepted : this.rejected).set(key, result, bytes);
  }

  private isCrowded(token: string): boolean {
    const { pendingMax, pendingBytesMax } = this.options.limits;
    return this.pending >= pendingMax || this.pendingBytes + token.length > pendingBytesMax;
  }

  /** The length before each text makes the key unambiguous. */
  private keyOf(token: string, audiences: readonly string[]): string {
    const hmac = createHmac('sha256', this.hmacKey);
    for (const text of [token, ...audiences]) hmac.update(`${text.length}:`).update(text);
    return hmac.digest('base64');
  }
}
