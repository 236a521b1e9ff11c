import { ClientError, codeOf } from '../../kubeconfig-client/client-error.js';
import { certificateFlaw, type CertificateFlaw } from '../../kubeconfig-client/connection-error.js';
import type { ClientResponse } from '../../kubeconfig-client/http-client.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';
import { WebhookError } from './webhook-error.js';

export interface WebhookConnection {
  readonly client: Pick<KubeconfigClient, 'request'>;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Limit on the body of an answer. */
  readonly answerBytesMax: number;
  readonly webhookObserver: WebhookObserver;
}

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

/**
 * Sends a review to the URL of the kubeconfig and returns the body of the answer. Repeats it after the answers 429 and
 * 5xx except for 503, all errors with Retry-After, and a connection that was reset. Redirects are not followed, since the
 * request contains credentials of a user. Rejects with a WebhookError, a ClientError or the reason of `signal`.
 */
export async function postReview(
  { client, clock, rng, answerBytesMax, webhookObserver }: WebhookConnection,
  body: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await client
      .request({
        method: 'POST',
        path: '',
        query: { timeout: '30s' },
        headers: { Accept: 'application/json, */*', 'Content-Type': 'application/json' },
        body,
        responseBytesMax: answerBytesMax,
        isRepeatable: true,
        signal,
      })
      .catch((error: unknown) => {
        const flaw = certificateFlaw(error);
        if (flaw) webhookObserver.refusedCertificate(flaw);
        if (signal.aborted || attempt >= attemptsMax || !isReset(error)) throw error;
        return undefined;
      });
    if (outcome && isSuccess(outcome)) return outcome.body;
    if (outcome && (attempt >= attemptsMax || !isRetried(outcome))) {
      throw new WebhookError(`it answered with status ${outcome.status}`);
    }
    const delayMs = firstDelayMs * delayFactor ** (attempt - 1) * (1 + (jitter * rng.below(jitterSteps)) / jitterSteps);
    await sleep(clock, Math.max(delayMs, 1000 * (outcome ? retryAfterSeconds(outcome) : 0)), signal);
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
