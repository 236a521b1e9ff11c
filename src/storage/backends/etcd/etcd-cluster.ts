import { sleep, type Clock } from '../../../std/clock.js';
import type { Rng } from '../../../std/rng.js';
import { StorageError } from '../../storage-error.js';
import { abortedError } from '../call-rules.js';
import { EtcdContinuity } from './etcd-continuity.js';
import type { CallHeaders, EtcdEndpoint, Unary } from './etcd-endpoint.js';
import { closedError, isNotProcessed, isTransient, storageErrorOf } from './etcd-errors.js';
import type { Cancellation } from '../../../std/cancellation.js';
import type { Logger } from '../../../std/logger.js';

interface EtcdClusterOptions {
  readonly dialTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

interface EtcdCallOptions {
  readonly signal?: Cancellation | undefined;
  /** True if the call is idempotent: it may be sent again if its response was lost. */
  readonly isRepeatable: boolean;
  /** Of the span of the call. */
  readonly headers?: CallHeaders | undefined;
}

/**
 * The time after which a call that is not answered is suspicious: a repeatable one is sent to another member, and the
 * connection is verified. Doubles with each attempt, since the store may be slow as a whole.
 */
const attemptTimeoutMs = 1_000;

/**
 * Sends calls to one member of the cluster until it fails or hangs, then to the next. Calls that were not sent, or are
 * idempotent, are retried until their deadline. Servers begin at different members, so that they spread over them.
 */
export class EtcdCluster {
  readonly continuity: EtcdContinuity;
  private at: number;
  private isClosed = false;

  constructor(
    private readonly endpoints: readonly EtcdEndpoint[],
    readonly options: EtcdClusterOptions,
  ) {
    this.continuity = new EtcdContinuity(options.logger);
    this.at = options.rng.below(endpoints.length);
  }

  get current(): EtcdEndpoint {
    return this.endpoints[this.at]!;
  }

  /**
   * Switches to the next member after `endpoint` failed. Of several callers that report the same failure, only the
   * first has an effect.
   */
  leave(endpoint: EtcdEndpoint): void {
    if (endpoint === this.current) this.at = (this.at + 1) % this.endpoints.length;
  }

  /**
   * Connects to a member, and checks by a linearizable read that it is part of a cluster that works and holds what was
   * read before. Rejects with NotConnectedError, or with 'regressed'.
   */
  connect(endpoint: EtcdEndpoint): Promise<void> {
    return endpoint.connect(this.options.dialTimeoutMs, () => {
      const { seen } = this.continuity;
      return (member) => {
        const others = this.endpoints.filter((other) => other !== endpoint && other.isConnected());
        const names = others.map(({ url }) => url);
        this.continuity.admit({ ...member, url: endpoint.url }, seen, names);
      };
    });
  }

  async call<M extends keyof Unary>(
    method: M,
    request: Unary[M]['request'],
    { signal, isRepeatable, headers }: EtcdCallOptions,
  ): Promise<Unary[M]['response']> {
    const { clock, callTimeoutMs } = this.options;
    const deadlineMs = clock.now() + callTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      if (this.isClosed) throw closedError();
      const endpoint = this.current;
      let isSent = false;
      const lateMs = attemptTimeoutMs * 2 ** attempt;
      try {
        if (!endpoint.isConnected()) await orAborted(this.connect(endpoint), signal);
        const { seen } = this.continuity;
        isSent = true;
        const answer = await (isRepeatable && method !== 'compact'
          ? endpoint.call(method, request, Math.min(deadlineMs, clock.now() + lateMs), signal, headers)
          : this.verified(endpoint, endpoint.call(method, request, deadlineMs, signal, headers)));
        if (answer) this.continuity.check(endpoint.url, answer.revision, seen);
        return answer;
      } catch (error) {
        if (this.isClosed) throw closedError();
        if (signal?.aborted) throw abortedError(signal);
        const isRefused = error instanceof StorageError;
        if (isRefused ? attempt + 1 >= this.endpoints.length : !isTransient(error)) throw storageErrorOf(error);
        this.leave(endpoint);
        if (isSent) endpoint.verify();
        const delayMs = this.delayBefore(attempt + 1);
        if (isNotProcessed(error)) isSent = false;
        if (isSent && !isRepeatable) throw unknownOutcome(error);
        if (clock.now() + delayMs >= deadlineMs) throw storageErrorOf(error);
        await orAborted(sleep(clock, delayMs), signal);
      }
    }
  }

  /** Waits for a call that is sent once, but not for a connection that hangs. */
  private async verified<T>(endpoint: EtcdEndpoint, call: Promise<T>): Promise<T> {
    const late = this.options.clock.after(attemptTimeoutMs, () => endpoint.verify());
    try {
      return await call;
    } finally {
      late.cancel();
    }
  }

  close(): void {
    this.isClosed = true;
    for (const endpoint of this.endpoints) endpoint.close();
  }

  /** Every member is tried once without delay, then all of them with growing delays. */
  private delayBefore(attempt: number): number {
    const round = Math.floor(attempt / this.endpoints.length);
    return round === 0 ? 0 : jittered(Math.min(500, 25 * 2 ** Math.min(round, 10)), this.options.rng);
  }
}

function unknownOutcome(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  return new StorageError('outcomeUnknown', storageErrorOf(error).message, { cause: error });
}

/**
 * Returns a random delay between half of `delayMs` and `delayMs`, so that clients that failed together do not retry
 * together.
 */
export function jittered(delayMs: number, rng: Rng): number {
  return Math.ceil(delayMs / 2) + rng.below(Math.floor(delayMs / 2) + 1);
}

function orAborted(work: Promise<void>, signal: Cancellation | undefined): Promise<void> {
  if (!signal) return work;
  if (signal.aborted) return Promise.reject(abortedError(signal));
  return new Promise((resolve, reject) => {
    const aborted = () => reject(abortedError(signal));
    signal.addEventListener('abort', aborted, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
