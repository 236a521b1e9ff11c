import type { ManifestObserver } from '../admission/manifests/static-manifests.js';
import type { Clock } from '../std/clock.js';
import { family, type MetricFamily, type Sample } from './metric-family.js';
import { sha256Label } from './sha256-label.js';

const controller = 'apiserver_manifest_admission_config_controller';

interface Loads {
  count: number;
  lastSeconds: number;
}

/** Metrics of manifests of admission, by the name of the plug-in. The load at the start counts, as in kube-apiserver. */
export class AdmissionManifestMetrics implements ManifestObserver {
  private readonly loads = new Map<string, Map<string, Loads>>();
  private readonly hashes = new Map<string, string>();

  constructor(private readonly clock: Clock) {}

  loaded(plugin: string, hash: string): void {
    this.hashes.set(plugin, hash);
    this.count(plugin, 'success');
  }

  failed(plugin: string): void {
    this.count(plugin, 'failure');
  }

  private count(plugin: string, status: 'success' | 'failure'): void {
    const ofPlugin = this.loads.get(plugin) ?? new Map<string, Loads>();
    this.loads.set(plugin, ofPlugin);
    ofPlugin.set(status, { count: (ofPlugin.get(status)?.count ?? 0) + 1, lastSeconds: this.clock.now() / 1000 });
  }

  /** `serverId` returns the id of this server: the name of its identity Lease. */
  families(serverId: () => string): MetricFamily[] {
    const server = () => ({ apiserver_id_hash: sha256Label(serverId()) });
    return [
      family(
        `${controller}_automatic_reloads_total`,
        'counter',
        '[ALPHA] Loads of admission manifests, by result and plug-in.',
        () => this.samples(server(), ({ count }) => count),
      ),
      family(
        `${controller}_automatic_reload_last_timestamp_seconds`,
        'gauge',
        '[ALPHA] Time of the last load of admission manifests, by result and plug-in.',
        () => this.samples(server(), ({ lastSeconds }) => lastSeconds),
      ),
      family(`${controller}_last_config_info`, 'gauge', '[ALPHA] Hash of the admission manifests in use.', () =>
        [...this.hashes].map(([plugin, hash]) => ({ labels: { plugin, ...server(), hash }, value: 1 })),
      ),
    ];
  }

  private *samples(
    server: { readonly apiserver_id_hash: string },
    valueOf: (loads: Loads) => number,
  ): Iterable<Sample> {
    for (const [plugin, ofPlugin] of this.loads) {
      for (const [status, loads] of ofPlugin) yield { labels: { status, plugin, ...server }, value: valueOf(loads) };
    }
  }
}
