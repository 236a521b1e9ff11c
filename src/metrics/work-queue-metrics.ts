import { Buckets, family, type MetricFamily } from './metric-family.js';

interface Counts {
  depth: number;
  adds: number;
  retries: number;
  readonly waits: Buckets;
  readonly works: Buckets;
}

// Buckets of client-go's work queues: powers of ten from 10 ns.
const bounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

/** Metrics of the work queues of reconcilers, with the names that kube-controller-manager uses. */
export class WorkQueueMetrics {
  private readonly queues = new Map<string, Counts>();

  /** Returns the counters of a queue. Queues of the same name share them, so that a restarted reconciler goes on. */
  readonly measure = (name: string) => {
    let counts = this.queues.get(name);
    if (!counts) {
      counts = { depth: 0, adds: 0, retries: 0, waits: new Buckets(bounds), works: new Buckets(bounds) };
      this.queues.set(name, counts);
    }
    const found = counts;
    return {
      added(depth: number) {
        found.depth = depth;
        found.adds++;
      },
      taken(depth: number, waitedSeconds: number) {
        found.depth = depth;
        found.waits.observe(waitedSeconds);
      },
      worked: (seconds: number) => found.works.observe(seconds),
      retried: () => void found.retries++,
    };
  };

  families(): MetricFamily[] {
    const queues = () => [...this.queues];
    const number = (type: 'counter' | 'gauge', name: string, help: string, read: (counts: Counts) => number) =>
      family(name, type, help, () =>
        queues().map(([queue, counts]) => ({ labels: { name: queue }, value: read(counts) })),
      );
    const histogram = (name: string, help: string, read: (counts: Counts) => Buckets) =>
      family(name, 'histogram', help, () =>
        queues().flatMap(([queue, counts]) => [...read(counts).samples({ name: queue })]),
      );
    return [
      number('gauge', 'workqueue_depth', '[ALPHA] Number of items in the queue.', ({ depth }) => depth),
      number('counter', 'workqueue_adds_total', '[ALPHA] Items added to the queue.', ({ adds }) => adds),
      number(
        'counter',
        'workqueue_retries_total',
        '[ALPHA] Items that failed and were queued again.',
        ({ retries }) => retries,
      ),
      histogram(
        'workqueue_queue_duration_seconds',
        '[ALPHA] Time that items spent in the queue, in seconds.',
        ({ waits }) => waits,
      ),
      histogram(
        'workqueue_work_duration_seconds',
        '[ALPHA] Time of processing an item, in seconds.',
        ({ works }) => works,
      ),
    ];
  }
}
