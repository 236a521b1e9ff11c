import type {
  AuthorizationWebhookObserver,
  ConditionsOutcome,
} from '../auth/authorization-webhook/authorization-webhook-observer.js';
import type { AttemptResult } from '../auth/webhook/post-review.js';
import { Buckets, family, type MetricFamily, type Sample } from './metric-family.js';

// Default buckets of Prometheus, as in kube-apiserver.
const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Metrics of webhook authorizers, by their name. Those of a name that a reload has removed stay. */
export class AuthorizationWebhookMetrics implements AuthorizationWebhookObserver {
  private readonly calls = new Map<string, Map<AttemptResult, Buckets>>();
  private readonly failOpen = new Map<string, Map<AttemptResult, number>>();
  private readonly conditions = new Map<string, { seconds: Buckets; errors: number; exclusions: number }>();

  called(name: string, result: AttemptResult, seconds: number): void {
    const ofName = seriesOf(this.calls, name);
    let buckets = ofName.get(result);
    if (!buckets) ofName.set(result, (buckets = new Buckets(callBounds)));
    buckets.observe(seconds);
  }

  failedOpen(name: string, result: AttemptResult): void {
    const ofName = seriesOf(this.failOpen, name);
    ofName.set(result, (ofName.get(result) ?? 0) + 1);
  }

  conditionsEvaluated(name: string, { isExcluded, hasErrors }: ConditionsOutcome, seconds: number): void {
    let counts = this.conditions.get(name);
    if (!counts) {
      this.conditions.set(name, (counts = { seconds: new Buckets(conditionBounds), errors: 0, exclusions: 0 }));
    }
    counts.seconds.observe(seconds);
    if (hasErrors) counts.errors++;
    if (isExcluded) counts.exclusions++;
  }

  families(): MetricFamily[] {
    const webhook = 'apiserver_authorization_webhook';
    const condition = 'apiserver_authorization_match_condition';
    return [
      family(
        `${webhook}_evaluations_total`,
        'counter',
        '[ALPHA] Requests to webhook authorizers, by name and result.',
        () => samplesOf(this.calls, ({ count }) => count),
      ),
      family(
        `${webhook}_duration_seconds`,
        'histogram',
        '[ALPHA] Duration of requests to webhook authorizers in seconds, by name and result.',
        () => this.durations(),
      ),
      family(
        `${webhook}_evaluations_fail_open_total`,
        'counter',
        '[ALPHA] Failed reviews that were left to the next authorizer, by name and result.',
        () => samplesOf(this.failOpen, (count) => count),
      ),
      family(
        `${condition}_evaluation_errors_total`,
        'counter',
        '[ALPHA] Evaluations of match conditions with an error, by type and name of the authorizer.',
        () => this.conditionCounts('errors'),
      ),
      family(
        `${condition}_exclusions_total`,
        'counter',
        '[ALPHA] Requests that match conditions exclude from a webhook, by type and name of the authorizer.',
        () => this.conditionCounts('exclusions'),
      ),
      family(
        `${condition}_evaluation_seconds`,
        'histogram',
        '[ALPHA] Time to evaluate the match conditions for a request in seconds, by type and name of the authorizer.',
        () => this.conditionTimes(),
      ),
    ];
  }

  private *durations(): Iterable<Sample> {
    for (const [name, results] of this.calls) {
      for (const [result, buckets] of results) yield* buckets.samples({ name, result });
    }
  }

  private *conditionCounts(count: 'errors' | 'exclusions'): Iterable<Sample> {
    for (const [name, counts] of this.conditions) {
      if (counts[count] > 0) yield { labels: { type: 'Webhook', name }, value: counts[count] };
    }
  }

  private *conditionTimes(): Iterable<Sample> {
    for (const [name, { seconds }] of this.conditions) yield* seconds.samples({ type: 'Webhook', name });
  }
}

function seriesOf<T>(series: Map<string, Map<AttemptResult, T>>, name: string): Map<AttemptResult, T> {
  let found = series.get(name);
  if (!found) series.set(name, (found = new Map<AttemptResult, T>()));
  return found;
}

function* samplesOf<T>(series: Map<string, Map<AttemptResult, T>>, valueOf: (entry: T) => number): Iterable<Sample> {
  for (const [name, results] of series) {
    for (const [result, entry] of results) yield { labels: { name, result }, value: valueOf(entry) };
  }
}
