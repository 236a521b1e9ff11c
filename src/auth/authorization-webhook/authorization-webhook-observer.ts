/** `error` includes answers that are malformed; `canceled`: no request waits for the answer any more. */
export type CallResult = 'success' | 'timeout' | 'error' | 'canceled';

/** Counts the use of webhook authorizers, for metrics. `name` is that of the authorizer. */
export interface AuthorizationWebhookObserver {
  /** One HTTP request to a webhook; retries are counted, too. */
  called(name: string, result: CallResult, seconds: number): void;
  /** A failed call after which requests go on to the next authorizer. */
  failedOpen(name: string, result: CallResult): void;
  /** One evaluation of all match conditions. */
  conditionsEvaluated(name: string, outcome: ConditionsOutcome, seconds: number): void;
}

/** `hasErrors`: an expression failed, also if another one was false. */
export interface ConditionsOutcome {
  readonly isExcluded: boolean;
  readonly hasErrors: boolean;
}
