import type { Cancellation } from '../std/cancellation.js';
import type { ConnectionPool, Endpoint, PooledExchange } from './connection-pool.js';
import type { ResponseReader } from './response-reader.js';
import type { WebhookConnection } from './webhook-connection.js';

/** A call until its answer, the end of its time or that of the request that waits for it. */
export class WebhookCall {
  abortReason: Error | undefined;
  private rejectPending: ((error: Error) => void) | undefined;
  private exchange: { readonly pool: ConnectionPool; readonly pooled: PooledExchange } | undefined;
  private connection: WebhookConnection | undefined;

  constructor(
    private readonly answerBytesMax: number,
    private readonly caller: Cancellation | undefined,
  ) {
    if (caller?.aborted) this.callerAborted();
    else caller?.addEventListener('abort', this.callerAborted, { once: true });
  }

  /** Resolves with the response. Rejects with the error of the connection. */
  send(pool: ConnectionPool, endpoint: Endpoint, request: readonly (string | Buffer)[]): Promise<ResponseReader> {
    return new Promise((resolve, reject) => {
      if (this.abortReason) return reject(this.abortReason);
      this.rejectPending = reject;
      const pooled: PooledExchange = {
        endpoint,
        request,
        answerBytesMax: this.answerBytesMax,
        begun: (connection) => (this.connection = connection),
        answered: (response) => {
          this.connection = undefined;
          resolve(response);
        },
        failed: (error, isStale) => {
          this.connection = undefined;
          // A webhook may get a review twice anyway, when the write is tried again.
          if (isStale && !this.abortReason) pool.begin(pooled);
          else reject(error);
        },
      };
      this.exchange = { pool, pooled };
      pool.begin(pooled);
    });
  }

  /** Settles as the promise, or rejects when the call is aborted. */
  orAborted<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.abortReason) return reject(this.abortReason);
      this.rejectPending = reject;
      promise.then(resolve, reject);
    });
  }

  abort(reason: Error): void {
    if (this.abortReason) return;
    this.abortReason = reason;
    if (this.exchange) this.exchange.pool.abandon(this.exchange.pooled);
    this.connection?.destroy();
    this.rejectPending?.(reason);
  }

  /** Ends the call, after which nothing aborts it. */
  end(): void {
    this.caller?.removeEventListener('abort', this.callerAborted);
  }

  private readonly callerAborted = () => this.abort(this.caller!.reason as Error);
}
