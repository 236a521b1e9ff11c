import type { RejectionType, WebhookCallObserver, WebhookLabels } from '../admission/webhooks/webhook-dependencies.js';
import { Counters, Histograms } from './labelled-series.js';
import type { MatchConditionMetrics } from './match-condition-metrics.js';
import { family, type MetricFamily } from './metric-family.js';

// Buckets of kube-apiserver.
const callBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Higher codes count as this one. */
const codeMax = 600;

/** Metrics of calls of admission webhooks, by the name of the webhook. */
export class AdmissionWebhookMetrics implements WebhookCallObserver {
  private readonly durations = new Histograms(callBounds);
  private readonly requests = new Counters();
  private readonly rejections = new Counters();
  private readonly openFailures = new Counters();

  constructor(private readonly conditions: MatchConditionMetrics) {}

  called({ name, type, operation }: WebhookLabels, seconds: number, isRejected: boolean, code: number): void {
    const rejected = String(isRejected);
    this.durations.observe({ name, type, operation, rejected }, seconds);
    this.requests.add({ name, type, operation, code: String(Math.min(code, codeMax)), rejected });
  }

  rejected({ name, type, operation }: WebhookLabels, errorType: RejectionType, code: number): void {
    const rejectionCode = String(Math.min(code, codeMax));
    this.rejections.add({ name, type, operation, error_type: errorType, rejection_code: rejectionCode });
  }

  failedOpen({ name, type }: WebhookLabels): void {
    this.openFailures.add({ name, type });
  }

  conditionsEvaluated(
    { name, type, operation }: WebhookLabels,
    seconds: number,
    result: 'matches' | 'excluded' | 'failed',
  ): void {
    const labels = { name, kind: 'webhook', type, operation };
    this.conditions.evaluated(labels, seconds);
    if (result === 'excluded') this.conditions.excluded(labels);
    if (result === 'failed') this.conditions.failed(labels);
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_admission_webhook_admission_duration_seconds',
        'histogram',
        '[STABLE] Duration of a call of an admission webhook in seconds, by name, operation and result.',
        () => this.durations.samples(),
      ),
      family(
        'apiserver_admission_webhook_request_total',
        'counter',
        '[ALPHA] Calls of admission webhooks, by name, operation, status code and result.',
        () => this.requests.samples(),
      ),
      family(
        'apiserver_admission_webhook_rejection_count',
        'counter',
        '[ALPHA] Requests that an admission webhook has rejected, by name, operation, kind of error and status code.',
        () => this.rejections.samples(),
      ),
      family(
        'apiserver_admission_webhook_fail_open_count',
        'counter',
        '[ALPHA] Failed calls of admission webhooks whose failurePolicy is Ignore, by name.',
        () => this.openFailures.samples(),
      ),
    ];
  }
}
