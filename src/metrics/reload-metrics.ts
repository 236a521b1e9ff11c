import type { Clock } from '../std/clock.js';
import { family, type Labels, type MetricFamily, type Sample } from './metric-family.js';
import { sha256Label } from './sha256-label.js';

export type ReloadResult = 'success' | 'failure';

interface Reloads {
  count: number;
  lastSeconds: number;
}

/** Metrics of a configuration file that is reloaded when it changes, as in kube-apiserver. */
export class ReloadMetrics {
  private readonly reloads: Partial<Record<ReloadResult, Reloads>> = {};
  private hash: string | undefined;

  constructor(
    private readonly subject: 'authentication' | 'authorization' | 'encryption',
    private readonly clock: Clock,
  ) {}

  /** `text`: the content of the file that is in use. */
  used(text: string): void {
    this.hash = sha256Label(text);
  }

  reloaded(result: ReloadResult): void {
    const reloads = (this.reloads[result] ??= { count: 0, lastSeconds: 0 });
    reloads.count++;
    reloads.lastSeconds = this.clock.now() / 1000;
  }

  /** `serverId` returns the id of this server: the name of its identity Lease. */
  families(serverId: () => string): MetricFamily[] {
    const { subject } = this;
    const controller = `apiserver_${subject}_config_controller`;
    const stability = subject === 'encryption' ? 'ALPHA' : 'BETA';
    const server = () => ({ apiserver_id_hash: sha256Label(serverId()) });
    return [
      family(
        `${controller}_automatic_reloads_total`,
        'counter',
        `[${stability}] Reloads of a changed ${subject} configuration, by result.`,
        () => this.samples(server(), ({ count }) => count),
      ),
      family(
        `${controller}_automatic_reload_last_timestamp_seconds`,
        'gauge',
        `[${stability}] Time of the last reload of a changed ${subject} configuration, by result.`,
        () => this.samples(server(), ({ lastSeconds }) => lastSeconds),
      ),
      family(`${controller}_last_config_info`, 'gauge', `[ALPHA] Hash of the ${subject} configuration in use.`, () =>
        this.hash === undefined ? [] : [{ labels: { ...server(), hash: this.hash }, value: 1 }],
      ),
    ];
  }

  private *samples(server: Labels, valueOf: (reloads: Reloads) => number): Iterable<Sample> {
    for (const [status, reloads] of Object.entries(this.reloads)) {
      yield { labels: { status, ...server }, value: valueOf(reloads) };
    }
  }
}
