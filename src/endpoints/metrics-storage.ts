import type { MeasuredOutcome } from '../storage/decorators/measured-store.js';
import { Buckets, type MetricFamily } from './metrics-family.js';

// Those of kube-apiserver for its store.
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** How the backing store answers, by operation. */
export class StorageMetrics {
  private readonly operations = new Map<string, { errors: number; total: number; durations: Buckets }>();

  /** To be called after each call of the store; few different operations are expected. */
  readonly observe = (operation: string, seconds: number, outcome: MeasuredOutcome): void => {
    let found = this.operations.get(operation);
    if (!found) {
      found = { errors: 0, total: 0, durations: new Buckets(bounds) };
      this.operations.set(operation, found);
    }
    found.total++;
    // That somebody else was faster is an answer like any other.
    if (outcome !== 'ok' && outcome !== 'conflict') found.errors++;
    found.durations.observe(seconds);
  };

  families(): MetricFamily[] {
    const counter = (
      name: string,
      help: string,
      read: (found: { errors: number; total: number }) => number,
    ): MetricFamily => ({
      name,
      help,
      type: 'counter',
      samples: () =>
        Array.from(this.operations, ([operation, found]) => ({ labels: { operation }, value: read(found) })),
    });
    return [
      {
        name: 'etcd_request_duration_seconds',
        help: '[ALPHA] How long the backing store took to answer, in seconds.',
        type: 'histogram',
        samples: () =>
          [...this.operations].flatMap(([operation, { durations }]) => [...durations.samples({ operation })]),
      },
      counter('etcd_requests_total', '[ALPHA] Calls of the backing store.', ({ total }) => total),
      counter('etcd_request_errors_total', '[ALPHA] Calls of the backing store that failed.', ({ errors }) => errors),
    ];
  }
}
