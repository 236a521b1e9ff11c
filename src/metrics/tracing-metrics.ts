import type { SpanCounts } from '../tracing/span-exporter.js';
import { single, type MetricFamily } from './metric-family.js';

/** Metrics of the export of spans. */
export function tracingFamilies(counts: SpanCounts): MetricFamily[] {
  return [
    single(
      'keelson_tracing_spans_exported_total',
      'counter',
      '[ALPHA] Spans that the collector has taken.',
      () => counts.exported,
    ),
    single(
      'keelson_tracing_spans_dropped_total',
      'counter',
      '[ALPHA] Spans that were not exported: the queue was full, or the collector refused them or was not reached in time.',
      () => counts.dropped,
    ),
  ];
}
