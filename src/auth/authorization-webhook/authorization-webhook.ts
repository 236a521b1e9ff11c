import { tracedCall, type CallTrace } from '../../std/call-trace.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import {
  noOpinion,
  noRules,
  type Authorization,
  type AuthorizationAttributes,
  type ResolvedRules,
} from '../authorizer.js';
import { ExpiringResults } from '../webhook/expiring-results.js';
import { FailureLog } from '../webhook/failure-log.js';
import { postReview, type AttemptResult, type WebhookConnection } from '../webhook/post-review.js';
import { SharedCalls } from '../webhook/shared-calls.js';
import type { InjectedCall } from '../../kubeconfig-client/injected-call.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import {
  accessReviewSpec,
  decodeAccessReview,
  encodeAccessReview,
  type AccessReviewSpec,
  type AccessReviewStatus,
} from './access-review.js';
import type { AuthorizationWebhook } from './authorization-webhook-dependencies.js';
import type { AuthorizationWebhookObserver } from './authorization-webhook-observer.js';
import type { ConditionsResult, MatchConditions } from './match-conditions.js';
import { reviewKey, type ReviewKey, type Selectors } from './review-key.js';

interface Options extends Omit<WebhookConnection, 'attempted' | 'injectCall'> {
  readonly client: Pick<KubeconfigClient, 'request' | 'close'>;
  readonly name: string;
  /** Version of SubjectAccessReview: `authorization.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly conditions: MatchConditions;
  /** Time for which decisions are kept; zero: they are not. */
  readonly allowedTtlMs: number;
  readonly otherTtlMs: number;
  readonly limits: ReviewLimits;
  /** Changes a call about this user by a fault plan. Absent without --allow-faults. */
  readonly injectCall?: ((user: string) => InjectedCall | undefined) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: AuthorizationWebhookObserver;
}

export interface ReviewLimits {
  /** Decisions that are kept, of allowed and of other requests each. */
  readonly entriesMax: number;
  readonly bytesMax: number;
  /** Reviews that wait for an answer, and their bytes. */
  readonly pendingMax: number;
  readonly pendingBytesMax: number;
}

interface Failure {
  /** Shown to the client, so it names no host, file or message of the webhook. */
  readonly reason: string;
  /** For the log. */
  readonly error: string;
  readonly advice: string;
}

const noSelectors: Selectors = {};
/** Size of a decision without its texts. */
const entryBytes = 200;
/** A reason is part of each answer 403. */
const reasonCharactersMax = 10_000;
/** An error of an expression may repeat texts of the request. */
const errorCharactersMax = 1_000;

/**
 * Authorizes requests by sending SubjectAccessReviews to a webhook. A call that fails, a malformed answer and a failed
 * match condition have the decision of failurePolicy.
 */
export class WebhookAuthorizer implements AuthorizationWebhook {
  readonly type = 'Webhook';
  readonly name: string;
  private readonly allowed: ExpiringResults<Authorization>;
  private readonly others: ExpiringResults<Authorization>;
  private readonly calls: SharedCalls<Authorization>;
  private readonly failures: FailureLog;

  constructor(private readonly options: Options) {
    const { limits, clock, allowedTtlMs, otherTtlMs } = options;
    this.name = options.name;
    this.allowed = new ExpiringResults({ ...limits, clock, ttlMs: allowedTtlMs });
    this.others = new ExpiringResults({ ...limits, clock, ttlMs: otherTtlMs });
    this.calls = new SharedCalls({ ...limits, clock, resultOfLeaving: noOpinion });
    this.failures = new FailureLog(options);
  }

  /** A decision that is kept is returned before conditions are evaluated: they see nothing but what the key has. */
  authorize(attributes: AuthorizationAttributes): Authorization | Promise<Authorization> {
    const { fieldSelector, labelSelector } = attributes;
    const selectors = fieldSelector || labelSelector ? { fieldSelector, labelSelector } : noSelectors;
    const key = reviewKey(attributes, selectors);
    if (key.isCacheable) {
      const known = this.allowed.get(key.text) ?? this.others.get(key.text);
      if (known) return known;
    }
    const spec = accessReviewSpec(attributes, selectors);
    const trace = attributes.steps?.trace;
    return this.options.conditions.isEmpty ? this.review(key, spec, trace) : this.reviewIfMatching(key, spec, trace);
  }

  /** A webhook has no request for rules. */
  rulesFor(): ResolvedRules {
    return { ...noRules, problem: 'webhook authorizer does not support user rule resolution' };
  }

  close(): void {
    this.options.client.close();
  }

  private reviewIfMatching(
    key: ReviewKey,
    spec: AccessReviewSpec,
    trace: CallTrace | undefined,
  ): Authorization | Promise<Authorization> {
    const { conditions, clock, observer, name } = this.options;
    const beginMs = clock.monotonicMs();
    const evaluated = ({ isExcluded, error }: ConditionsResult): Authorization | Promise<Authorization> => {
      const outcome = { isExcluded, hasErrors: error !== undefined };
      observer.conditionsEvaluated(name, outcome, (clock.monotonicMs() - beginMs) / 1000);
      if (isExcluded) return noOpinion;
      return error === undefined ? this.review(key, spec, trace) : this.failed(conditionFailure(name, error));
    };
    const result = conditions.evaluate(spec);
    return result instanceof Promise ? result.then(evaluated) : evaluated(result);
  }

  /** `trace` is that of the request that begins the review; those that join it have no span. */
  private review(
    key: ReviewKey,
    spec: AccessReviewSpec,
    trace: CallTrace | undefined,
  ): Authorization | Promise<Authorization> {
    const { apiVersion, name, limits } = this.options;
    const body = encodeAccessReview(apiVersion, spec);
    const answer = this.calls.run(key.text, body.length, (signal) =>
      this.ask(key, { body, user: spec.user }, signal, trace),
    );
    if (answer) return answer;
    const error = `more than ${limits.pendingMax} reviews, or ${limits.pendingBytesMax} bytes of them, wait for an answer`;
    return this.callFailed('error', callFailure(name, error));
  }

  private async ask(
    key: ReviewKey,
    { body, user }: { readonly body: Buffer; readonly user: string },
    signal: AbortSignal,
    trace: CallTrace | undefined,
  ): Promise<Authorization> {
    const { options, name } = this;
    const injectCall = options.injectCall && (() => options.injectCall?.(user));
    let last: AttemptResult = 'error';
    const attempted = (result: AttemptResult, ms: number) => {
      last = result;
      options.observer.called(name, result, ms / 1000);
    };
    try {
      const decode = (answer: Buffer) => decodeAccessReview(answer, options.apiVersion);
      const status = await tracedCall(trace, 'Call authorization webhook', { authorizer: name }, (span) =>
        postReview({ ...options, injectCall, attempted }, body, decode, signal, span),
      );
      const authorization = this.decisionOf(status);
      if (key.isCacheable) this.keep(key.text, authorization);
      return authorization;
    } catch (error) {
      return this.callFailed(last, callFailure(name, error instanceof Error ? error.message : String(error)));
    }
  }

  private decisionOf({ isAllowed, isDenied, reason: whole }: AccessReviewStatus): Authorization {
    const reason = whole.slice(0, reasonCharactersMax);
    if (isAllowed && isDenied) {
      const error = 'its answer allows and denies; the request is denied';
      this.failures.log('a webhook authorizer contradicts itself; correct it', error, { authorizer: this.name });
      return { decision: 'deny', reason, evaluationError: `the webhook authorizer "${this.name}" allowed and denied` };
    }
    if (isDenied) return { decision: 'deny', reason };
    if (isAllowed) return { decision: 'allow', reason };
    return reason === '' ? noOpinion : { decision: 'no opinion', reason };
  }

  private keep(key: string, authorization: Authorization): void {
    const results = authorization.decision === 'allow' ? this.allowed : this.others;
    results.set(key, authorization, entryBytes + key.length + authorization.reason.length);
  }

  private callFailed(result: AttemptResult, failure: Failure): Authorization {
    if (this.options.failurePolicy === 'NoOpinion') this.options.observer.failedOpen(this.name, result);
    return this.failed(failure);
  }

  private failed({ reason, error, advice }: Failure): Authorization {
    const isDenied = this.options.failurePolicy === 'Deny';
    const consequence = isDenied ? 'its requests are denied (403)' : 'the next authorizer decides';
    this.failures.log(`${reason}, so ${consequence}; ${advice}`, error.slice(0, errorCharactersMax), {
      authorizer: this.name,
    });
    return { decision: isDenied ? 'deny' : 'no opinion', reason, evaluationError: reason };
  }
}

const callFailure = (name: string, error: string): Failure => ({
  reason: `the webhook authorizer "${name}" could not be asked`,
  error,
  advice: 'check it and its kubeconfig',
});

const conditionFailure = (name: string, error: string): Failure => ({
  reason: `a match condition of the webhook authorizer "${name}" failed`,
  error,
  advice: 'correct the expression',
});
