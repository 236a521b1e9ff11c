import { ClientError, codeOf } from '../../kubeconfig-client/client-error.js';
import { certificateFlaw, type CertificateFlaw } from '../../kubeconfig-client/connection-error.js';
import type { ClientResponse } from '../../kubeconfig-client/http-client.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import type { InjectedCall } from '../../kubeconfig-client/injected-call.js';
import type { OpenSpan } from '../../std/call-trace.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';
import { canonicalDuration } from '../../typed/go-duration.js';
import { abandoned, WebhookError } from './webhook-error.js';

export interface WebhookConnection {
  readonly client: Pick<KubeconfigClient, 'request'>;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Limit on the body of an answer. */
  readonly answerBytesMax: number;
  /** Limit on one attempt. Default: 30 s, as in kube-apiserver. */
  readonly timeoutMs?: number;
  readonly webhookObserver: WebhookObserver;
  /** Changes an attempt by a fault plan. Absent without --allow-faults. */
  readonly injectCall?: (() => InjectedCall | undefined) | undefined;
  /** Gets the result of each attempt. */
  readonly attempted?: (result: AttemptResult, ms: number) => void;
}

/** `error` includes answers that are malformed; `canceled`: no request waits for the answer. */
export type AttemptResult = 'success' | 'timeout' | 'error' | 'canceled';

/** Counts the use of webhooks, for metrics. */
export interface WebhookObserver {
  /** A connection that failed because of the certificate of the webhook. */
  refusedCertificate(flaw: CertificateFlaw): void;
}

// As kube-apiserver: 5 attempts, with delays of about 0.5, 0.75, 1.1 and 1.7 s.
const attemptsMax = 5;
const firstDelayMs = 500;
const delayFactor = 1.5;
/** Fraction of a delay that is added at most, so that servers do not retry at the same time. */
const jitter = 0.2;
const jitterSteps = 1000;
const timeoutMsDefault = 30_000;

/**
 * Sends a review to the URL of the kubeconfig and decodes the body of the answer. Repeats it after the answers 429 and 5xx
 * except for 503, all errors with Retry-After, and a connection that was reset. Redirects are not followed, since the
 * request contains credentials or the name of a user. Rejects with a WebhookError, a ClientError, the error of `decode` or
 * the reason of `signal`. `span` is that of all attempts.
 */
export async function postReview<T>(
  connection: WebhookConnection,
  body: Buffer,
  decode: (answer: Buffer) => T,
  signal: AbortSignal,
  span: OpenSpan | undefined,
): Promise<T> {
  const { clock, rng } = connection;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptReview(connection, body, decode, signal, span);
    if (outcome.isSuccess) return outcome.review;
    if (attempt >= attemptsMax || outcome.retryAfterMs === undefined) throw outcome.error;
    const delayMs = firstDelayMs * delayFactor ** (attempt - 1) * (1 + (jitter * rng.below(jitterSteps)) / jitterSteps);
    await sleep(clock, Math.max(delayMs, outcome.retryAfterMs), signal);
  }
}

type Attempt<T> =
  | { readonly isSuccess: true; readonly review: T }
  /** `retryAfterMs` is undefined if the review must not be repeated. */
  | { readonly isSuccess: false; readonly error: unknown; readonly retryAfterMs?: number };

async function attemptReview<T>(
  connection: WebhookConnection,
  body: Buffer,
  decode: (answer: Buffer) => T,
  signal: AbortSignal,
  span: OpenSpan | undefined,
): Promise<Attempt<T>> {
  const { client, clock, answerBytesMax, timeoutMs = timeoutMsDefault, webhookObserver, attempted } = connection;
  const beginMs = clock.monotonicMs();
  const ended = (result: AttemptResult) => {
    span?.event('Request completed', { result });
    attempted?.(result, clock.monotonicMs() - beginMs);
  };
  try {
    const response = await client.request({
      method: 'POST',
      path: '',
      query: { timeout: canonicalDuration(`${timeoutMs}ms`) },
      headers: { Accept: 'application/json, */*', 'Content-Type': 'application/json', ...span?.headers },
      body,
      responseBytesMax: answerBytesMax,
      isRepeatable: true,
      timeoutMs,
      signal,
      injected: connection.injectCall?.(),
    });
    if (isSuccess(response)) {
      const review = decode(response.body);
      ended('success');
      return { isSuccess: true, review };
    }
    ended(response.status === 504 ? 'timeout' : 'error');
    const error = new WebhookError(`it answered with status ${response.status}`);
    return {
      isSuccess: false,
      error,
      ...(isRetried(response) && { retryAfterMs: 1000 * retryAfterSeconds(response) }),
    };
  } catch (error) {
    const flaw = certificateFlaw(error);
    if (flaw) webhookObserver.refusedCertificate(flaw);
    const isTimeout = error instanceof ClientError && error.code === 'Timeout';
    ended(signal.reason === abandoned ? 'canceled' : signal.aborted || isTimeout ? 'timeout' : 'error');
    return { isSuccess: false, error, ...(!signal.aborted && isReset(error) && { retryAfterMs: 0 }) };
  }
}

const isSuccess = ({ status }: ClientResponse) => status >= 200 && status <= 206;

function isRetried(response: ClientResponse): boolean {
  const { status } = response;
  return status === 429 || (status >= 500 && status !== 503) || (status >= 400 && retryAfterSeconds(response) > 0);
}

/** 0 without a valid header. */
function retryAfterSeconds({ headers }: ClientResponse): number {
  const text = headers['retry-after'] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

function isReset(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.code !== 'Connection') return false;
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error.cause));
}
