import type { RejectionType, WebhookCallObserver, WebhookLabels } from '../admission/webhooks/webhook-dependencies.js';
import { Buckets, family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

// Buckets of kube-apiserver.
const callBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/** Higher codes count as this one. */
const codeMax = 600;

class Counters {
  private readonly series = new Map<string, { readonly labels: Labels; value: number }>();

  add(labels: Labels): void {
    const key = Object.values(labels).join(' ');
    const found = this.series.get(key);
    if (found) found.value++;
    else this.series.set(key, { labels, value: 1 });
  }

  samples(): Sample[] {
    return [...this.series.values()];
  }
}

class Histograms {
  private readonly series = new Map<string, { readonly labels: Labels; readonly buckets: Buckets }>();

  constructor(private readonly bounds: readonly number[]) {}

  observe(labels: Labels, value: number): void {
    const key = Object.values(labels).join(' ');
    let found = this.series.get(key);
    if (!found) this.series.set(key, (found = { labels, buckets: new Buckets(this.bounds) }));
    found.buckets.observe(value);
  }

  samples(): Sample[] {
    return [...this.series.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
  }
}

/** Metrics of calls of admission webhooks, by the name of the webhook. */
export class AdmissionWebhookMetrics implements WebhookCallObserver {
  private readonly durations = new Histograms(callBounds);
  private readonly requests = new Counters();
  private readonly rejections = new Counters();
  private readonly openFailures = new Counters();
  private readonly conditionDurations = new Histograms(conditionBounds);
  private readonly conditionErrors = new Counters();
  private readonly conditionExclusions = new Counters();

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
    this.conditionDurations.observe(labels, seconds);
    if (result === 'excluded') this.conditionExclusions.add(labels);
    if (result === 'failed') this.conditionErrors.add(labels);
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
      family(
        'apiserver_admission_match_condition_evaluation_seconds',
        'histogram',
        '[ALPHA] Duration of the evaluation of matchConditions in seconds, by name and operation.',
        () => this.conditionDurations.samples(),
      ),
      family(
        'apiserver_admission_match_condition_evaluation_errors_total',
        'counter',
        '[ALPHA] Evaluations of matchConditions that failed, by name and operation.',
        () => this.conditionErrors.samples(),
      ),
      family(
        'apiserver_admission_match_condition_exclusions_total',
        'counter',
        '[ALPHA] Requests that matchConditions exclude, by name and operation.',
        () => this.conditionExclusions.samples(),
      ),
    ];
  }
}
