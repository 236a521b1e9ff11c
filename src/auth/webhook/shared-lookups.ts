import { createHmac } from 'node:crypto';
import type { CallTrace } from '../../std/call-trace.js';
import type { Clock } from '../../std/clock.js';
import { systemRng } from '../../std/rng.js';
import type { Authenticated, Caller, Rejected } from '../authenticator.js';
import type { TokenCacheObserver } from '../token-cache-observer.js';
import { ExpiringResults } from './expiring-results.js';
import { SharedCalls } from './shared-calls.js';

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
  readonly lookUp: (
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
    trace: CallTrace | undefined,
  ) => Promise<Lookup>;
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

const crowded: Rejected = { rejected: 'too many tokens wait for the token webhook' };

/**
 * Asks for tokens, once for all requests that need the result at the same time, and keeps results for a time. Tokens are
 * keys only as HMACs with a random key, so that memory and lookup times do not reveal them. Accepted and rejected tokens
 * are kept apart: rejected ones, which anybody can send, do not displace accepted ones.
 */
export class SharedLookups {
  private readonly accepted: ExpiringResults<Result>;
  private readonly rejected: ExpiringResults<Result>;
  private readonly calls: SharedCalls<Lookup>;
  private readonly hmacKey = `${systemRng.uuid()}${systemRng.uuid()}`;

  constructor(private readonly options: Options) {
    const { limits, clock } = options;
    const results = () => new ExpiringResults<Result>({ ...options, ...limits });
    [this.accepted, this.rejected] = [results(), results()];
    const resultOfLeaving: Lookup = { result: 'rejected', isAnswered: false, bytes: 0 };
    this.calls = new SharedCalls({ ...limits, clock, resultOfLeaving });
  }

  /** `caller.signal` ends the wait of this request, and the lookup when no other request waits for it. */
  find(token: string, audiences: readonly string[], caller?: Caller): Result | Promise<Result> {
    const { observer } = this.options;
    const key = this.keyOf(token, audiences);
    const known = this.accepted.get(key) ?? this.rejected.get(key);
    if (known) {
      observer.hit();
      return known;
    }
    if (caller?.signal?.aborted) return 'rejected';
    const call = (signal: AbortSignal) => this.lookUp(key, { token, audiences }, signal, caller?.steps?.trace);
    const lookup = this.calls.run(key, token.length, call, caller?.signal);
    return lookup ? lookup.then(({ result }) => result).finally(observer.miss()) : crowded;
  }

  /** `trace` is that of the request that begins the lookup; those that join it have no span. */
  private async lookUp(
    key: string,
    { token, audiences }: { readonly token: string; readonly audiences: readonly string[] },
    signal: AbortSignal,
    trace: CallTrace | undefined,
  ): Promise<Lookup> {
    const { lookUp, observer } = this.options;
    const fetched = observer.fetch();
    const found = await lookUp(token, audiences, signal, trace);
    fetched(found.isAnswered);
    if (found.isAnswered) this.keep(key, found);
    return found;
  }

  private keep(key: string, { result, bytes }: Lookup): void {
    const isAccepted = typeof result === 'object' && 'user' in result;
    (isAccepted ? this.accepted : this.rejected).set(key, result, bytes);
  }

  /** The length before each text makes the key unambiguous. */
  private keyOf(token: string, audiences: readonly string[]): string {
    const hmac = createHmac('sha256', this.hmacKey);
    for (const text of [token, ...audiences]) hmac.update(`${text.length}:`).update(text);
    return hmac.digest('base64');
  }
}
