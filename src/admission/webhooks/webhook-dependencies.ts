import type { InjectCall } from '../../kubeconfig-client/injected-call.js';
import type { WebhookAddress, WebhookClient } from '../../webhook-client/webhook-client.js';
import type { Logger } from '../../std/logger.js';

export type WebhookType = 'admit' | 'validating';

/** Labels of the metrics of a call. */
export interface WebhookLabels {
  readonly name: string;
  readonly type: WebhookType;
  /** `CREATE` */
  readonly operation: string;
}

/** Kinds of rejections: the call failed, this server could not use the answer, or the webhook denied the request. */
export type RejectionType = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

/** Counts calls of webhooks, for metrics. */
export interface WebhookCallObserver {
  called(labels: WebhookLabels, seconds: number, isRejected: boolean, code: number): void;
  rejected(labels: WebhookLabels, type: RejectionType, code: number): void;
  /** A failed call that failurePolicy Ignore allows. */
  failedOpen(labels: WebhookLabels): void;
  conditionsEvaluated(labels: WebhookLabels, seconds: number, result: 'matches' | 'excluded' | 'failed'): void;
}

export interface WebhookDependencies {
  readonly clientOf: (type: WebhookType, address: WebhookAddress) => WebhookClient;
  readonly observer: WebhookCallObserver;
  /** Absent without --allow-faults. */
  readonly injectCall?: InjectCall | undefined;
  readonly logger: Logger;
  /** Limit on the values of a patch and of the patched object. */
  readonly valuesMax: number;
  readonly patchOperationsMax: number;
}
