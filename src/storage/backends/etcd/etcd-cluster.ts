import { sleep, type Clock } from '../../../std/clock.js';
import type { Rng } from '../../../std/rng.js';
import { abortedError } from '../call-rules.js';
import type { CallHeaders, EtcdEndpoint, Unary } from './etcd-endpoint.js';
import { closedError, isTransient, storageErrorOf } from './etcd-errors.js';
import { NotConnectedError } from '../../../grpc/grpc-error.js';
import type { Cancellation } from '../../../std/cancellation.js';

interface EtcdClusterOptions {
  readonly dialTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
}

interface EtcdCallOptions {
  readonly signal?: Cancellation | undefined;
  /** True if the call is idempotent: it may be sent again if its response was lost. */
  readonly isRepeatable: boolean;
  /** Of the span of the call. */
  readonly headers?: CallHeaders | undefined;
}

/**
 * Sends calls to one member of the cluster until it fails, then to the next. Calls that were not sent, or are
 * idempotent, are retried until their deadline.
 */
export class EtcdCluster {
  private at = 0;
  private isClosed = false;

  constructor(
    private readonly endpoints: readonly EtcdEndpoint[],
    readonly options: EtcdClusterOptions,
  ) {}

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

  async call<M extends keyof Unary>(
    method: M,
    request: Unary[M]['request'],
    { signal, isRepeatable, headers }: EtcdCallOptions,
  ): Promise<Unary[M]['response']> {
    const { clock, callTimeoutMs, dialTimeoutMs } = this.options;
    const deadlineMs = clock.now() + callTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      if (this.isClosed) throw closedError();
      const endpoint = this.current;
      let isSent = false;
      try {
        if (!endpoint.isConnected()) await orAborted(endpoint.connect(dialTimeoutMs), signal);
        isSent = true;
        return await endpoint.call(method, request, deadlineMs, signal, headers);
      } catch (error) {
        if (this.isClosed) throw closedError();
        if (signal?.aborted) throw abortedError(signal);
        if (!isTransient(error)) throw storageErrorOf(error);
        this.leave(endpoint);
        const delayMs = this.delayBefore(attempt + 1);
        if (error instanceof NotConnectedError) isSent = false;
        if ((isSent && !isRepeatable) || clock.now() + delayMs >= deadlineMs) throw storageErrorOf(error);
        await orAborted(sleep(clock, delayMs), signal);
      }
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
