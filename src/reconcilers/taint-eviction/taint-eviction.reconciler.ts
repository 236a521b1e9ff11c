import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Node, Pod, Taint } from '../../catalog/types/core.v1.js';
import { withDisruptionTarget } from '../../modules/core/pod/eviction.rules.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { podKey, podsOn } from '../pods-on-node.js';
import { recordEvent } from '../record-event.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import { evictionBy } from './decide.js';

/** Deletes the Pods of a Node that do not tolerate a taint with the effect NoExecute, at once or after a time. */
export const taintEviction = defineReconciler({
  name: 'taint-eviction-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'node-controller',
  yieldsToUpstream: true,
  start: (dependencies) => new TaintEviction(dependencies),
});

const workersMax = 8;
const component = 'taint-eviction-controller';
const cause = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' };

class TaintEviction implements RunningReconciler {
  private readonly pods: ServedResource;
  private readonly nodes: ServedResource;
  private readonly queue: WorkQueue;
  private readonly ends: (() => void)[];
  /** Taints with the effect NoExecute, by Node: Pods of other Nodes cost one look-up. */
  private readonly taints = new Map<string, readonly Taint[]>();
  /** Since when a Pod has been in danger, by its key. Another Pod may have the same name later. */
  private readonly since = new Map<string, { readonly uid: string | undefined; readonly beginMs: number }>();

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, queue } = dependencies;
    this.pods = registry.require('', 'v1', 'pods');
    this.nodes = registry.require('', 'v1', 'nodes');
    this.queue = queue('taint_eviction', (key, signal) => this.reconcile(key, signal), { workersMax });
    this.ends = [
      this.nodes.store.cache.observe({
        changed: ({ current, previous }) => this.noteNode((current ?? previous)!.attributes.name, current),
        reset: () => this.readNodes(),
      }),
      this.pods.store.cache.observe({ changed: (event) => this.podChanged(event), reset: () => this.readNodes() }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private readNodes(): void {
    const { store } = this.nodes;
    this.taints.clear();
    for (const encoded of store.cache.snapshot().range(store.scopeOf(''))) {
      this.noteNode(encoded.attributes.name, encoded);
    }
  }

  private noteNode(name: string, encoded: EncodedObject | undefined): void {
    const taints = encoded && !encoded.corruption ? executingTaints(encoded.parse()) : [];
    const before = this.taints.get(name) ?? [];
    if (taints.length > 0) this.taints.set(name, taints);
    else this.taints.delete(name);
    if (taints.length === 0 && before.length === 0) return;
    for (const { attributes } of podsOn(this.pods, name)) this.queue.add(podKey(attributes));
  }

  private podChanged({ previous, current }: CacheEvent): void {
    const { attributes } = (current ?? previous)!;
    const key = podKey(attributes);
    if (this.since.has(key) || this.taints.has(attributes.fields['spec.nodeName'] ?? '')) this.queue.add(key);
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    const [namespace = '', name = ''] = key.split('/');
    const { clock, upstream, nodeMetrics } = this.dependencies;
    const { store } = this.pods;
    const encoded = store.cache.get(store.keyOf(namespace, name));
    if (!encoded || encoded.corruption || encoded.attributes.lifetime?.isDeleting) return void this.since.delete(key);
    const pod = encoded.parse() as Pod;
    const taints = this.taints.get(pod.spec?.nodeName ?? '') ?? [];
    const eviction = evictionBy(taints, pod.spec?.tolerations ?? []);
    if (eviction === 'never') {
      if (this.since.delete(key)) await this.record(pod, `Cancelling deletion of Pod ${key}`, signal);
      return;
    }
    if (upstream.isActive()) return;
    let dueMs = clock.now();
    if (eviction !== 'now') {
      dueMs = this.beginOf(key, pod, taints) + eviction * 1000;
      const leftMs = dueMs - clock.now();
      if (leftMs > 0) return { againInMs: leftMs };
    }
    if (await this.evict(pod, signal)) nodeMetrics.podEvicted(Math.max(0, clock.now() - dueMs) / 1000);
    this.since.delete(key);
  }

  /** The time of the taint or of the Pod, whichever is later, so that a restart of this server does not prolong it. */
  private beginOf(key: string, { metadata, status }: Pod, taints: readonly Taint[]): number {
    const known = this.since.get(key);
    if (known && known.uid === metadata.uid) return known.beginMs;
    const nowMs = this.dependencies.clock.now();
    const boundMs = Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '');
    const times = [boundMs, ...taints.map(({ timeAdded = '' }) => Date.parse(timeAdded))];
    const beginMs = times.some(Number.isNaN) ? nowMs : Math.min(nowMs, Math.max(...times));
    this.since.set(key, { uid: metadata.uid, beginMs });
    return beginMs;
  }

  /** Returns false if the Pod no longer exists. */
  private async evict(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { client, clock } = this.dependencies;
    const { namespace = '', name = '', uid } = pod.metadata;
    const ref = { served: this.pods, namespace, name };
    const preconditions = uid === undefined ? {} : { uid };
    await this.record(pod, `Marking for deletion Pod ${namespace}/${name}`, signal);
    const mark = (current: Pod) => withDisruptionTarget(current, objectTime(clock.now()), cause);
    if (!(await client.change(ref, mark, { subresource: 'status', preconditions, signal }))) return false;
    await client.delete(ref, { preconditions }, signal);
    return true;
  }

  private record({ metadata }: Pod, message: string, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '', uid } = metadata;
    const about = { kind: 'Pod', apiVersion: 'v1', namespace, name, uid };
    return recordEvent(
      this.dependencies,
      { about, type: 'Normal', reason: 'TaintManagerEviction', message, component },
      signal,
    );
  }
}

function executingTaints({ spec }: Node): readonly Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}
