import { quotedCharactersMax } from '../../machinery/go-quote.js';
import { tracedCall, type CallTrace } from '../../std/call-trace.js';
import type { Logger } from '../../std/logger.js';
import type { AuthenticationResult, Caller } from '../authenticator.js';
import type { TokenCacheObserver } from '../token-cache-observer.js';
import { FailureLog } from './failure-log.js';
import { postReview, type WebhookConnection } from './post-review.js';
import { SharedLookups, type Lookup, type LookupLimits } from './shared-lookups.js';
import { decodeTokenReview, encodeTokenReview, type TokenReviewStatus } from './token-review.js';
import { abandoned } from './webhook-error.js';

interface Options extends WebhookConnection {
  /** Version of TokenReview: `authentication.k8s.io/v1`. */
  readonly apiVersion: string;
  /** Audiences of tokens for this server. */
  readonly ownAudiences: readonly string[];
  /** Time for which answers are kept. */
  readonly cacheTtlMs: number;
  readonly limits: LookupLimits;
  readonly observer: TokenCacheObserver;
  readonly logger: Logger;
}

/** Size of a result without its texts. */
const entryBytes = 500;

/**
 * Authenticates tokens by sending TokenReviews to the webhook of --authentication-token-webhook-config-file. Without a
 * valid answer a token is rejected.
 */
export class TokenWebhook {
  private readonly lookups: SharedLookups;
  private readonly failures: FailureLog;

  constructor(private readonly options: Options) {
    this.failures = new FailureLog(options);
    this.lookups = new SharedLookups({
      ...options,
      ttlMs: options.cacheTtlMs,
      lookUp: (token, audiences, signal, trace) => this.lookUp(token, audiences, signal, trace),
    });
  }

  authenticate(
    token: string,
    audiences: readonly string[] = this.options.ownAudiences,
    caller?: Caller,
  ): AuthenticationResult | Promise<AuthenticationResult> {
    return this.lookups.find(token, audiences, caller);
  }

  private async lookUp(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
    trace: CallTrace | undefined,
  ): Promise<Lookup> {
    const { apiVersion } = this.options;
    try {
      const decode = (answer: Buffer) => ({ status: decodeTokenReview(answer, apiVersion), bytes: answer.length });
      const request = encodeTokenReview(apiVersion, token, audiences);
      const { status, bytes } = await tracedCall(trace, 'Call authentication webhook', {}, (span) =>
        postReview(this.options, request, decode, signal, span),
      );
      const { result, isAnswered } = this.resultOf(status, audiences);
      return { result, isAnswered, bytes: entryBytes + bytes };
    } catch (error) {
      if (error !== abandoned) this.logFailure(error instanceof Error ? error.message : String(error));
      // The cause is for the operator: it may name files, and repeat messages of a credential plug-in.
      return { result: { rejected: 'the token webhook could not be asked' }, isAnswered: false, bytes: 0 };
    }
  }

  /**
   * As in kube-apiserver: a webhook that names no audiences knows none, so its tokens are valid for this server. A
   * rejection with an error may be temporary and is not kept.
   */
  private resultOf({ user, audiences: named, error }: TokenReviewStatus, requested: readonly string[]) {
    const isRequested = new Set(requested);
    const valid = named.length > 0 ? named : this.options.ownAudiences;
    const audiences = valid.filter((audience) => isRequested.has(audience));
    if (requested.length > 0 && audiences.length === 0) return { result: 'rejected', isAnswered: true } as const;
    if (user) return { result: { user, audiences }, isAnswered: true } as const;
    if (error === '') return { result: 'rejected', isAnswered: true } as const;
    return { result: { rejected: error.slice(0, quotedCharactersMax) }, isAnswered: false } as const;
  }

  private logFailure(error: string): void {
    this.failures.log(
      'the token webhook could not be asked, so its tokens are rejected (401); check it and its kubeconfig',
      error,
    );
  }
}
