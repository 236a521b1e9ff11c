import type { FailureType } from '../custom-kinds/conversion/conversion-failure.js';
import type { ConversionObserver } from '../custom-kinds/conversion/webhook-converter.js';
import { Buckets, family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

const requestBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];
/** From 1 ms to 16 s, each twice the one before. */
const conversionBounds = Array.from({ length: 15 }, (_, power) => 2 ** power / 1000);

interface Series {
  readonly labels: Labels;
  readonly buckets: Buckets;
}

/** Metrics of the conversion webhooks of custom kinds, as in kube-apiserver. */
export class ConversionMetrics implements ConversionObserver {
  private readonly requests = new Map<string, Series>();
  private readonly conversions = new Map<string, Series>();

  converted(definition: string, from: string, to: string, seconds: number, failure: FailureType | undefined): void {
    const result = { result: failure === undefined ? 'success' : 'failure', failure_type: failure ?? '' };
    observe(this.requests, result, requestBounds, seconds);
    const succeeded = String(failure === undefined);
    const conversion = { crd_name: definition, from_version: from, to_version: to, succeeded };
    observe(this.conversions, conversion, conversionBounds, seconds);
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_conversion_webhook_request_total',
        'counter',
        '[ALPHA] Requests to conversion webhooks, by result and type of failure.',
        () => [...this.requests.values()].map(({ labels, buckets }) => ({ labels, value: buckets.count })),
      ),
      family(
        'apiserver_conversion_webhook_duration_seconds',
        'histogram',
        '[ALPHA] Duration of requests to conversion webhooks in seconds.',
        () => samplesOf(this.requests),
      ),
      family(
        'apiserver_crd_conversion_webhook_duration_seconds',
        'histogram',
        '[ALPHA] Duration of conversions by webhooks in seconds, by CustomResourceDefinition and versions.',
        () => samplesOf(this.conversions),
      ),
    ];
  }
}

function observe(series: Map<string, Series>, labels: Labels, bounds: readonly number[], seconds: number): void {
  const key = Object.values(labels).join('\0');
  let found = series.get(key);
  if (!found) series.set(key, (found = { labels, buckets: new Buckets(bounds) }));
  found.buckets.observe(seconds);
}

const samplesOf = (series: ReadonlyMap<string, Series>): Sample[] =>
  [...series.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
