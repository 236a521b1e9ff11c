import type { Metric, Registry } from 'prom-client';
import { single, type MetricFamily } from './metrics-family.js';
import { helpOf, isHidden, visibilityFamilies } from './metrics-visibility.js';

/**
 * All that one server measures. The library is loaded by the first who asks: a server that nobody scrapes does not
 * pay the 50 ms of loading it when it starts.
 */
export class ServerMetrics {
  private readonly families: MetricFamily[] = [];
  private loading: Promise<Registry> | undefined;

  /** `withProcess`: also what every process says of itself, and how many metrics there are. */
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
    // The library's begins to count when it is loaded; this one began with the process.
    registry.removeSingleMetric('process_cpu_seconds_total');
    registry.registerMetric(asMetric(processCpu));
    return registry;
  }
}

const processCpu = single(
  'process_cpu_seconds_total',
  'counter',
  'CPU time that the process has used, in seconds.',
  () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
);

/** To the library a metric is whatever has a name and can be read: so none of its own counters is on anybody's way. */
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
