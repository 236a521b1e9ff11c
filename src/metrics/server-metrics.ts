import type { Registry } from 'prom-client';
import type { Clock } from '../std/clock.js';
import { YieldTimer } from '../std/yield-timer.js';
import { single, type MetricFamily } from './metric-family.js';
import { metricsText } from './metrics-text.js';
import { isHidden, visibilityFamilies } from './metric-visibility.js';

interface ServerMetricsOptions {
  /** Adds metrics of the process, and of how many metrics there are. */
  readonly withProcess: boolean;
  /** Shows metrics that were deprecated some releases ago, too. */
  readonly showsHidden?: boolean;
}

/** The metrics of one server. */
export class ServerMetrics {
  private readonly families: MetricFamily[] = [];
  private readonly later: (() => readonly MetricFamily[])[] = [];
  /** Set in a server of several processes: returns the metrics of all of them. */
  combine: (() => Promise<string>) | undefined = undefined;

  constructor(
    private readonly clock: Clock,
    private readonly options: ServerMetricsOptions,
  ) {}

  add(...families: readonly MetricFamily[]): void {
    this.families.push(...families);
  }

  /** Adds families that are constructed by the first scrape: many servers are never scraped. */
  addLater(families: () => readonly MetricFamily[]): void {
    this.later.push(families);
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.combine ? this.combine() : this.ownText();
  }

  /** The metrics of this process. */
  async ownText(): Promise<string> {
    const { withProcess, showsHidden = false } = this.options;
    for (const families of this.later.splice(0)) this.add(...families());
    const shown = this.families.filter((family) => showsHidden || !isHidden(family));
    const timer = new YieldTimer(this.clock);
    if (!withProcess) return timer.run(metricsText(shown));
    const hiddenCount = this.families.length - shown.length;
    const ofProcess = await (processMetrics ??= loadProcessMetrics());
    const all = [...shown, ...visibilityFamilies(this.families, hiddenCount), processCpu];
    return (await timer.run(metricsText(all))) + (await ofProcess.metrics());
  }
}

/**
 * Metrics of the process, shared by all servers in it: prom-client cannot stop its observer of garbage collections nor
 * its histogram of the event loop. Loaded by the first scrape: a server that is never scraped does not spend 50 ms of
 * its start on it.
 */
let processMetrics: Promise<Registry> | undefined;

async function loadProcessMetrics(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // The library's begins to count when it is loaded; processCpu began with the process.
  registry.removeSingleMetric('process_cpu_seconds_total');
  return registry;
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
