import type { Attributes } from '../../cache/encoded-object.js';
import type { Node, Pod } from '../../catalog/types/core.v1.js';
import type { ObjectRef } from '../../client/loopback-client.js';
import type { PodGcReason } from '../../metrics/node-metrics.js';
import { withDisruptionTarget } from '../../modules/core/pod/eviction.rules.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { every, type Timer } from '../../std/clock.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { readyCondition } from '../node-lifecycle/node-facts.js';
import { podKey } from '../pods-on-node.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';

/**
 * Deletes Pods that no kubelet will finish: those of deleted Nodes, and the oldest of too many finished Pods. While there
 * are no Nodes at all, as in the tests of operators, Pods may name any node.
 */
export const podGc = defineReconciler({
  name: 'pod-garbage-collector-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'pod-garbage-collector',
  yieldsToUpstream: true,
  start: (dependencies) => new PodGc(dependencies),
});

/** Times of kube-controller-manager: between two sweeps, and from the first sweep that misses a Node. */
const sweepMs = 20_000;
const quarantineMs = 40_000;
const workersMax = 8;
const sliceMs = 5;
const orphaned = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' };

class PodGc implements RunningReconciler {
  private readonly pods: ServedResource;
  private readonly nodes: ServedResource;
  private readonly queue: WorkQueue;
  private readonly sweeps: Timer;
  /** Since when Pods have been found on a Node that does not exist. */
  private readonly missingSince = new Map<string, number>();
  private readonly finishedOverLimit = new Set<string>();

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, clock, queue } = dependencies;
    this.pods = registry.require('', 'v1', 'pods');
    this.nodes = registry.require('', 'v1', 'nodes');
    this.queue = queue('pod_gc', (key, signal) => this.collect(key, signal), { workersMax });
    this.sweeps = every(clock, sweepMs, () => this.sweep());
  }

  async stop(): Promise<void> {
    this.sweeps.cancel();
    await this.queue.stop();
  }

  private async sweep(): Promise<void> {
    const { clock, upstream, config, logger } = this.dependencies;
    this.finishedOverLimit.clear();
    if (upstream.isActive()) return this.missingSince.clear();
    const { store } = this.pods;
    const timer = new LoopYieldTimer(clock, sliceMs);
    const hasNodes = this.nodes.store.cache.snapshot().size > 0;
    const missing = new Set<string>();
    let orphans = 0;
    const finished: Attributes[] = [];
    for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) {
      if (timer.isDue()) await timer.yield();
      const node = nodeOf(attributes);
      if (hasNodes && node !== '' && !this.hasNode(node)) missing.add(node);
      if (missing.has(node) && this.isPastQuarantine(node)) orphans++;
      if (isFinal(attributes.fields['status.phase'])) finished.push(attributes);
      if (this.mayCollect(attributes)) this.queue.add(podKey(attributes));
    }
    if (orphans > 0)
      logger.info('deleting Pods of Nodes that do not exist', { pods: orphans, nodes: [...missing].slice(0, 10) });
    for (const node of this.missingSince.keys()) if (!missing.has(node)) this.missingSince.delete(node);
    for (const node of missing) if (!this.missingSince.has(node)) this.missingSince.set(node, clock.monotonicMs());
    this.addOldest(finished, config.reconcilers.terminatedPodsMax);
  }

  /** Adds the finished Pods beyond the limit: evicted ones first, then by age. */
  private addOldest(finished: readonly Attributes[], max: number): void {
    const excess = finished.length - max;
    if (max === 0 || excess <= 0) return;
    const { store } = this.pods;
    const dated = finished.map((attributes) => {
      const encoded = store.cache.get(store.keyOf(attributes.namespace, attributes.name));
      const pod: Pod | undefined = encoded && !encoded.corruption ? encoded.parse() : undefined;
      const isEvicted = pod?.status?.phase === 'Failed' && pod.status.reason === 'Evicted';
      return { attributes, isEvicted, created: pod?.metadata.creationTimestamp ?? '' };
    });
    dated.sort((a, b) => Number(b.isEvicted) - Number(a.isEvicted) || (a.created < b.created ? -1 : 1));
    for (const { attributes } of dated.slice(0, excess)) {
      this.finishedOverLimit.add(podKey(attributes));
      this.queue.add(podKey(attributes));
    }
  }

  private hasNode(name: string): boolean {
    return this.nodes.store.cache.get(this.nodes.store.keyOf('', name)) !== undefined;
  }

  private mayCollect(attributes: Attributes): boolean {
    const node = nodeOf(attributes);
    const isDeleting = attributes.lifetime?.isDeleting ?? false;
    if (node === '') return isDeleting;
    return this.isPastQuarantine(node) || (isDeleting && this.isOutOfService(node));
  }

  private isPastQuarantine(node: string): boolean {
    const sinceMs = this.missingSince.get(node);
    return sinceMs !== undefined && this.dependencies.clock.monotonicMs() - sinceMs >= quarantineMs;
  }

  /** True for a Node that is not ready and that an administrator tainted as shut down. */
  private isOutOfService(name: string): boolean {
    const { store } = this.nodes;
    const encoded = store.cache.get(store.keyOf('', name));
    if (!encoded || encoded.corruption) return false;
    const { spec, status } = encoded.parse() as Node;
    const key = this.dependencies.config.naming.label('out-of-service', 'node');
    return (
      readyCondition(status?.conditions)?.status !== 'True' && (spec?.taints ?? []).some((taint) => taint.key === key)
    );
  }

  private async collect(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { client, logger, nodeMetrics } = this.dependencies;
    const ref = { served: this.pods, namespace, name };
    const pod: Pod | undefined = await client.live(ref, signal);
    const node = pod?.spec?.nodeName ?? '';
    if (!pod || this.dependencies.upstream.isActive()) return;
    const isOrphan = node !== '' && this.isPastQuarantine(node) && !(await this.isNodeStored(node, signal));
    const reason = isOrphan ? 'orphaned' : this.reasonFor(key, pod);
    if (!reason) return;
    nodeMetrics.podCollected(namespace, reason);
    try {
      await this.failAndDelete(ref, pod, reason, signal);
    } catch (error) {
      nodeMetrics.podNotCollected(namespace, reason);
      throw error;
    }
    logger.debug('deleted a Pod that no node will finish', { pod: key, node, reason });
  }

  private async failAndDelete(ref: ObjectRef, pod: Pod, reason: PodGcReason, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.dependencies;
    const { uid } = pod.metadata;
    const preconditions = uid === undefined ? {} : { uid };
    if (!isFinal(pod.status?.phase)) {
      const fail = (current: Pod): Pod => {
        const isOrphan = reason === 'orphaned';
        const marked = isOrphan ? withDisruptionTarget(current, objectTime(clock.now()), orphaned) : current;
        return { ...marked, status: { ...marked.status, phase: 'Failed' } };
      };
      if (!(await client.change(ref, fail, { subresource: 'status', preconditions, signal }))) return;
    }
    await client.delete(ref, { preconditions, gracePeriodSeconds: 0 }, signal);
  }

  /** Returns undefined if the Pod, whose Node exists, may stay. */
  private reasonFor(key: string, { metadata, spec, status }: Pod): PodGcReason | undefined {
    const isDeleting = metadata.deletionTimestamp !== undefined;
    const node = spec?.nodeName ?? '';
    if (isDeleting && node === '') return 'unscheduled';
    if (isDeleting && this.isOutOfService(node)) return 'out-of-service';
    return this.finishedOverLimit.has(key) && isFinal(status?.phase) ? 'terminated' : undefined;
  }

  private async isNodeStored(name: string, signal: AbortSignal): Promise<boolean> {
    const { client } = this.dependencies;
    return (await client.live({ served: this.nodes, namespace: '', name }, signal)) !== undefined;
  }
}

const nodeOf = ({ fields }: Attributes): string => fields['spec.nodeName'] ?? '';

const isFinal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';
