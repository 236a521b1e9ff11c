import type { AttemptResult } from '../webhook/post-review.js';

/** Counts the use of webhook authorizers, for metrics. `name` is that of the authorizer. */
export interface AuthorizationWebhookObserver {
  /** One HTTP request to a webhook; retries are counted, too. */
  called(name: string, result: AttemptResult, seconds: number): void;
  /** A failed call after which requests go on to the next authorizer. */
  failedOpen(name: string, result: AttemptResult): void;
  /** One evaluation of all match conditions. */
  conditionsEvaluated(name: string, outcome: ConditionsOutcome, seconds: number): void;
}

/** `hasErrors`: an expression failed, also if another one was false. */
export interface ConditionsOutcome {
  readonly isExcluded: boolean;
  readonly hasErrors: boolean;
}
