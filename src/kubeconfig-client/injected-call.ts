/** The webhook that is about to be called. */
export interface WebhookSubject {
  readonly kind: WebhookKind;
  /** The webhook configuration, the CustomResourceDefinition or the authorizer; empty for authentication. */
  readonly configuration: string;
  /** The webhook in its configuration; empty for other kinds. */
  readonly name: string;
  /** The user of the request that calls the webhook; undefined for conversion and authentication, which have none. */
  readonly user: string | undefined;
}

export type WebhookKind = 'mutating' | 'validating' | 'conversion' | 'authentication' | 'authorization';

/** The decision of an answer that the webhook did not send. */
export interface InjectedDecision {
  readonly isAllowed: boolean;
  readonly message: string;
}

/** The result of a call that is not sent, by a fault plan. */
export interface InjectedCall {
  readonly latencyMs: number;
  /** The call is sent after the latency if this is undefined. */
  readonly result: InjectedResult | undefined;
}

type InjectedResult = 'connection refused' | 'no answer' | { readonly status: number; readonly body: Buffer };

/** Returns undefined for a call that is not changed. `reviewWith` returns the answer with a decision. */
export type InjectCall = (
  subject: WebhookSubject,
  reviewWith: (decision: InjectedDecision) => object,
) => InjectedCall | undefined;

/** The error of a connection that nothing accepts, as Node reports it. */
export const connectionRefused = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
