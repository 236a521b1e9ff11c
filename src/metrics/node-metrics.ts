import { Counters, Histograms } from './labelled-series.js';
import { family, type MetricFamily } from './metric-family.js';

interface ZoneCount {
  readonly ready: number;
  readonly unready: number;
}

/** Reasons of a deletion by the pod-garbage-collector; the labels of kube-controller-manager. */
export type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

const noLabels = {};

/** Returns `count` bounds, each `factor` times the one before. */
const exponential = (first: number, factor: number, count: number) =>
  Array.from({ length: count }, (_, power) => first * factor ** power);

/** Metrics of nodes and of Pods without a node, with the names and labels that kube-controller-manager uses. */
export class NodeMetrics {
  private readonly evictions = new Counters();
  private readonly zones = new Map<string, ZoneCount>();
  private readonly oneNode = new Histograms(exponential(0.001, 4, 8));
  private readonly allNodes = new Histograms(exponential(0.01, 4, 8));
  private readonly podDeletions = new Histograms([0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]);
  private podsDeleted = 0;
  private readonly collected = new Counters();
  private readonly collectionErrors = new Counters();

  constructor() {
    for (const histograms of [this.oneNode, this.allNodes, this.podDeletions]) histograms.begin(noLabels);
  }

  /** A Node got a taint that evicts its Pods. */
  evicted(zone: string): void {
    this.evictions.add({ zone });
  }

  nodeUpdated(seconds: number): void {
    this.oneNode.observe(noLabels, seconds);
  }

  /** Sets the zones after a check of all nodes. Zones that are gone stay, as in kube-controller-manager. */
  nodesUpdated(seconds: number, zones: ReadonlyMap<string, ZoneCount>): void {
    this.allNodes.observe(noLabels, seconds);
    for (const zone of this.zones.keys()) if (!zones.has(zone)) this.zones.set(zone, { ready: 0, unready: 0 });
    for (const [zone, count] of zones) {
      this.zones.set(zone, count);
      this.evictions.begin({ zone });
    }
  }

  /** `seconds` is the time since the Pod was due. */
  podEvicted(seconds: number): void {
    this.podsDeleted++;
    this.podDeletions.observe(noLabels, seconds);
  }

  podCollected(namespace: string, reason: PodGcReason): void {
    this.collected.add({ namespace, reason });
  }

  podNotCollected(namespace: string, reason: PodGcReason): void {
    this.collectionErrors.add({ namespace, reason });
  }

  families(): MetricFamily[] {
    return [...this.nodeFamilies(), ...this.podFamilies()];
  }

  private nodeFamilies(): MetricFamily[] {
    const gauge = (name: string, help: string, read: (count: ZoneCount) => number) =>
      family(`node_collector_${name}`, 'gauge', help, () =>
        Array.from(this.zones, ([zone, count]) => ({ labels: { zone }, value: read(count) })),
      );
    return [
      family(
        'node_collector_evictions_total',
        'counter',
        '[STABLE] Number of Node evictions that happened since current instance of NodeController started.',
        () => this.evictions.samples(),
      ),
      gauge('zone_health', '[ALPHA] Gauge measuring percentage of healthy nodes per zone.', healthOf),
      gauge(
        'zone_size',
        '[ALPHA] Gauge measuring number of registered Nodes per zones.',
        ({ ready, unready }) => ready + unready,
      ),
      gauge(
        'unhealthy_nodes_in_zone',
        '[ALPHA] Gauge measuring number of not Ready Nodes per zones.',
        ({ unready }) => unready,
      ),
      family(
        'node_collector_update_node_health_duration_seconds',
        'histogram',
        '[ALPHA] Duration in seconds for NodeController to update the health of a single node.',
        () => this.oneNode.samples(),
      ),
      family(
        'node_collector_update_all_nodes_health_duration_seconds',
        'histogram',
        '[ALPHA] Duration in seconds for NodeController to update the health of all nodes.',
        () => this.allNodes.samples(),
      ),
    ];
  }

  private podFamilies(): MetricFamily[] {
    return [
      family(
        'taint_eviction_controller_pod_deletions_total',
        'counter',
        '[ALPHA] Total number of Pods deleted by TaintEvictionController since its start.',
        () => [{ labels: noLabels, value: this.podsDeleted }],
      ),
      family(
        'taint_eviction_controller_pod_deletion_duration_seconds',
        'histogram',
        '[ALPHA] Latency, in seconds, between the time when a taint effect has been activated for the Pod and its ' +
          'deletion via TaintEvictionController.',
        () => this.podDeletions.samples(),
      ),
      family(
        'pod_gc_collector_force_delete_pods_total',
        'counter',
        '[ALPHA] Number of pods that are being forcefully deleted since the Pod GC Controller started.',
        () => this.collected.samples(),
      ),
      family(
        'pod_gc_collector_force_delete_pod_errors_total',
        'counter',
        '[ALPHA] Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.',
        () => this.collectionErrors.samples(),
      ),
    ];
  }
}

/** The percentage of healthy nodes; 100 for a zone without nodes. */
function healthOf({ ready, unready }: ZoneCount): number {
  return ready + unready === 0 ? 100 : (100 * ready) / (ready + unready);
}
