import type { Metric, Registry } from 'prom-client';
import { single, type MetricFamily } from './metrics-family.js';
import { helpOf, isHidden, visibilityFamilies } from './metrics-visibility.js';

/** Metrics of one server. prom-client is loaded at the first scrape, since loading it takes 50 ms. */
export class ServerMetrics {
  private readonly families: MetricFamily[] = [];
  private loading: Promise<Registry> | undefined;

  /** `withProcess` adds metrics of the process, and the counts of registered and hidden metrics. */
  constructor(private readonly options: { readonly withProcess: boolean; readonly showsHidden?: boolean }) {}

  add(...families: readonly MetricFamily[]): void {
    this.families.push(...families);
    this.loading = undefined;
  }

  async text(): Promise<string> {
    const registry = await (this.loading ??= this.load());
    return registry.metrics();
  }

  private async load(): Promise<Registry> {
    const { Registry, collectDefaultMetrics } = await import('prom-client');
    const registry = new Registry();
    const { withProcess, showsHidden = false } = this.options;
    const shown = this.families.filter((family) => showsHidden || !isHidden(family));
    for (const family of shown) registry.registerMetric(asMetric(family));
    if (!withProcess) return registry;
    const hiddenCount = this.families.length - shown.length;
    for (const family of visibilityFamilies(this.families, hiddenCount)) registry.registerMetric(asMetric(family));
    collectDefaultMetrics({ register: registry });
    // prom-client's counter starts when the library is loaded; processCpu counts from the start of the process.
    registry.removeSingleMetric('process_cpu_seconds_total');
    registry.registerMetric(asMetric(processCpu));
    return registry;
  }
}

const processCpu = single('process_cpu_seconds_total', 'counter', 'CPU time used by the process, in seconds.', () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
});

/** Adapts a family to prom-client, which only reads it at scrape time; none of the library's counters is used. */
function asMetric(family: MetricFamily): Metric {
  const { name, type } = family;
  const help = helpOf(family);
  const values = () =>
    Array.from(family.samples(), ({ labels, value, suffix }) => ({
      labels,
      value,
      ...(suffix && { metricName: name + suffix }),
    }));
  return {
    name,
    help,
    type,
    get: () => Promise.resolve({ name, help, type, values: values() }),
    reset: () => undefined,
  } as unknown as Metric;
}
