import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Lease } from '../../catalog/types/coordination.v1.js';
import type { Node, Pod } from '../../catalog/types/core.v1.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { every, type Timer } from '../../std/clock.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { findStored } from '../find-stored.js';
import { podKey, podsOn } from '../pods-on-node.js';
import { recordEvent } from '../record-event.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import { hasEvictionTaint, silentConditions, taintsAfter, unreadyPod, type EvictionTaint } from './decide.js';
import { EvictionPace } from './eviction-pace.js';
import { nodeFacts, readyCondition, type NodeFacts } from './node-facts.js';
import { NodeHealth } from './node-health.js';
import { Zones } from './zones.js';

/**
 * Watches the signs of life of nodes, which are their Leases and the condition Ready. A silent Node becomes
 * Ready=Unknown. A Node that is not ready is tainted, and its Pods become not ready; the taint-eviction-controller
 * deletes them.
 */
export const nodeLifecycle = defineReconciler({
  name: 'node-lifecycle-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'node-controller',
  yieldsToUpstream: true,
  start(dependencies) {
    const { registry, config } = dependencies;
    const leases = findStored(registry, config.naming.group('coordination'), 'v1', 'leases');
    return leases ? new NodeLifecycle(dependencies, leases) : idle;
  },
});

const workersMax = 8;
const sliceMs = 5;
/** Timers of Node may fire early by a millisecond. */
const timerMarginMs = 10;
/** Names in one log line. */
const loggedNamesMax = 10;
/** Events of nodes have this source in kube-controller-manager. */
const component = 'node-controller';

class NodeLifecycle implements RunningReconciler {
  private readonly nodes: ServedResource;
  private readonly pods: ServedResource;
  private readonly nodeQueue: WorkQueue;
  private readonly podQueue: WorkQueue;
  private readonly health: NodeHealth;
  private readonly zones: Zones;
  private readonly pace: EvictionPace;
  private readonly checks: Timer;
  private readonly ends: (() => void)[];
  /** Checks of nodes that become silent before the next check of all. */
  private readonly dueChecks = new Set<Timer>();
  private readonly facts = new WeakMap<EncodedObject, NodeFacts>();
  private readonly renewals = new WeakMap<EncodedObject, string | undefined>();
  /** Nodes that an Event RegisteredNode was written for, or that existed at the start. */
  private readonly known = new Set<string>();
  /** Nodes that became Unknown since the last check, for one log line. */
  private readonly silenced: string[] = [];

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly leases: ServedResource,
  ) {
    const { registry, config, clock, queue } = dependencies;
    const { nodes: settings } = config.reconcilers;
    this.nodes = registry.require('', 'v1', 'nodes');
    this.pods = registry.require('', 'v1', 'pods');
    this.health = new NodeHealth({ graceMs: settings.monitorGraceMs, startupGraceMs: settings.startupGraceMs });
    this.zones = new Zones({
      normal: settings.evictionsPerSecond,
      reduced: settings.secondaryEvictionsPerSecond,
      largeZoneMin: settings.largeClusterSize,
      unhealthyShare: settings.unhealthyZoneShare,
    });
    this.nodeQueue = queue('node_lifecycle_controller', (name, signal) => this.reconcile(name, signal), { workersMax });
    this.podQueue = queue('node_lifecycle_pods', (key, signal) => this.markPod(key, signal), { workersMax });
    this.pace = new EvictionPace(clock, (name) => this.nodeQueue.add(name));
    this.ends = [
      this.nodes.store.cache.observe({
        changed: (event) => this.nodeChanged(event),
        reset: () => this.readNodes(),
      }),
      this.pods.store.cache.observe({ changed: (event) => this.podChanged(event), reset: () => undefined }),
      this.leases.store.cache.observe({ changed: (event) => this.leaseChanged(event), reset: () => undefined }),
    ];
    this.checks = every(clock, settings.monitorPeriodMs, () => this.checkAll());
  }

  async stop(): Promise<void> {
    this.checks.cancel();
    for (const timer of this.dueChecks) timer.cancel();
    for (const end of this.ends) end();
    this.pace.stop();
    await Promise.all([this.nodeQueue.stop(), this.podQueue.stop()]);
  }

  private readNodes(): void {
    // Deletions may have been missed.
    for (const name of this.health.names()) if (!this.factsNamed(name)) this.forget(name);
    for (const encoded of this.allNodes()) {
      const { name } = encoded.attributes;
      this.known.add(name);
      const facts = this.factsOf(encoded);
      if (facts) this.observe(facts);
      this.nodeQueue.add(name);
    }
  }

  private allNodes(): Iterable<EncodedObject> {
    const { store } = this.nodes;
    return store.cache.snapshot().range(store.scopeOf(''));
  }

  private factsOf(encoded: EncodedObject | undefined): NodeFacts | undefined {
    if (!encoded || encoded.corruption) return undefined;
    let facts = this.facts.get(encoded);
    if (!facts) {
      facts = nodeFacts(encoded.parse(), this.dependencies.config.naming);
      this.facts.set(encoded, facts);
    }
    return facts;
  }

  private factsNamed(name: string): NodeFacts | undefined {
    const { store } = this.nodes;
    return this.factsOf(store.cache.get(store.keyOf('', name)));
  }

  /** Returns spec.renewTime of the Lease of a node in the cache. */
  private renewalOf(node: string): string | undefined {
    const { store } = this.leases;
    const encoded = store.cache.get(store.keyOf(this.leaseNamespace, node));
    if (!encoded || encoded.corruption) return undefined;
    if (!this.renewals.has(encoded)) {
      this.renewals.set(encoded, (encoded.parse() as Lease).spec?.renewTime ?? undefined);
    }
    return this.renewals.get(encoded);
  }

  private get leaseNamespace(): string {
    return this.dependencies.config.naming.systemNamespace('node-lease');
  }

  private observe({ name, ready, createdMs }: NodeFacts): void {
    const { clock } = this.dependencies;
    const signs = { heartbeat: ready && (ready.lastHeartbeatTime ?? ''), renewed: this.renewalOf(name) };
    this.health.observe(name, signs, { nowMs: clock.monotonicMs(), ageMs: Math.max(0, clock.now() - createdMs) });
  }

  private nodeChanged({ previous, current }: CacheEvent): void {
    const { name } = (current ?? previous)!.attributes;
    this.nodeQueue.add(name);
    const facts = this.factsOf(current);
    const last = current ? undefined : this.factsOf(previous);
    if (last && !this.yields) {
      void this.record(last, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
    }
    if (!facts) return;
    this.observe(facts);
    const wasReady = this.factsOf(previous)?.ready?.status === 'True';
    if (!wasReady || facts.ready?.status === 'True' || this.yields) return;
    void this.record(facts, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    for (const { attributes } of podsOn(this.pods, name)) this.podQueue.add(podKey(attributes));
  }

  private leaseChanged({ current }: CacheEvent): void {
    if (current?.attributes.namespace !== this.leaseNamespace) return;
    const facts = this.factsNamed(current.attributes.name);
    if (facts) this.observe(facts);
  }

  /** Marks a Pod that is bound to a Node that is not ready. */
  private podChanged({ previous, current }: CacheEvent): void {
    const node = current?.attributes.fields['spec.nodeName'] ?? '';
    if (!current || node === '' || previous?.attributes.fields['spec.nodeName'] === node) return;
    const status = this.factsNamed(node)?.ready?.status ?? 'True';
    if (status !== 'True') this.podQueue.add(podKey(current.attributes));
  }

  /** True while a kube-controller-manager does this work. */
  private get yields(): boolean {
    return this.dependencies.upstream.isActive();
  }

  private async checkAll(): Promise<void> {
    const { clock, nodeMetrics } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const timer = new LoopYieldTimer(clock, sliceMs);
    if (this.yields) {
      this.health.restart(clock.monotonicMs());
      return this.pace.withdrawAll();
    }
    this.logSilenced();
    const zones = new Map<string, { ready: number; unready: number }>();
    for (const encoded of this.allNodes()) {
      if (timer.isDue()) await timer.yield();
      const nodeBeginMs = clock.monotonicMs();
      const facts = this.factsOf(encoded);
      if (!facts) continue;
      this.observe(facts);
      this.countIn(zones, facts);
      const nowMs = clock.monotonicMs();
      const isSilent = this.health.isSilent(facts.name, nowMs);
      if (isSilent && facts.ready?.status !== 'Unknown') this.nodeQueue.add(facts.name);
      else nodeMetrics.nodeUpdated((nowMs - nodeBeginMs) / 1000);
      if (!isSilent) this.checkWhenSilent(facts.name, nowMs);
    }
    this.setPace(zones);
    nodeMetrics.nodesUpdated((clock.monotonicMs() - beginMs) / 1000, zones);
  }

  /** Checks a node at the end of its grace period, if the next check of all nodes is later. */
  private checkWhenSilent(name: string, nowMs: number): void {
    const { clock, config } = this.dependencies;
    const remainingMs = this.health.remainingMs(name, nowMs);
    if (remainingMs > config.reconcilers.nodes.monitorPeriodMs) return;
    const timer = clock.after(remainingMs + timerMarginMs, () => {
      this.dueChecks.delete(timer);
      this.nodeQueue.add(name);
    });
    this.dueChecks.add(timer);
  }

  private logSilenced(): void {
    const names = this.silenced.splice(0);
    if (names.length === 0) return;
    const message = 'nodes stopped reporting; they are Unknown until they renew their Leases';
    this.dependencies.logger.warn(message, { count: names.length, nodes: names.slice(0, loggedNamesMax) });
  }

  private countIn(zones: Map<string, { ready: number; unready: number }>, { zone, ready, isExcluded }: NodeFacts) {
    if (isExcluded) return;
    let health = zones.get(zone);
    if (!health) zones.set(zone, (health = { ready: 0, unready: 0 }));
    if (ready?.status === 'True') health.ready++;
    else health.unready++;
  }

  private setPace(zones: ReadonlyMap<string, { readonly ready: number; readonly unready: number }>): void {
    const { clock, logger } = this.dependencies;
    const wereHalted = this.zones.areHalted;
    this.pace.setRates(this.zones.update(zones));
    const { areHalted } = this.zones;
    if (areHalted === wereHalted) return;
    if (areHalted) {
      logger.warn('no node is ready: evictions stop; check the network between the nodes and this server');
      this.pace.withdrawAll();
    } else {
      logger.info('a node is ready again: evictions continue');
      // The other nodes could not report either.
      this.health.restart(clock.monotonicMs());
    }
    for (const { attributes } of this.allNodes()) this.nodeQueue.add(attributes.name);
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { store } = this.nodes;
    const encoded = store.cache.get(store.keyOf('', name));
    if (!encoded) return this.forget(name);
    const facts = this.factsOf(encoded);
    if (!facts || this.yields) return;
    if (!this.known.has(name)) {
      this.known.add(name);
      await this.record(facts, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    }
    const isSilent = this.health.isSilent(name, this.dependencies.clock.monotonicMs());
    if (isSilent && facts.ready?.status !== 'Unknown') return this.markSilent(facts, signal);
    await this.taint(encoded, facts, signal);
  }

  private forget(name: string): void {
    this.health.forget(name);
    this.pace.withdraw(name);
    this.known.delete(name);
  }

  /** Reads the Lease from the store first: this server may be the one that hears nothing. */
  private async markSilent({ name, uid, ready }: NodeFacts, signal: AbortSignal): Promise<void> {
    const { client, clock, nodeMetrics } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const leaseRef = { served: this.leases, namespace: this.leaseNamespace, name };
    const lease = (await client.live(leaseRef, signal)) as Lease | undefined;
    const heartbeat = ready && (ready.lastHeartbeatTime ?? '');
    if (!this.health.hasSeen(name, { heartbeat, renewed: lease?.spec?.renewTime ?? undefined })) return;
    const now = objectTime(clock.now());
    const ref = { served: this.nodes, namespace: '', name };
    const silence = (current: Node): Node => {
      const found = readyCondition(current.status?.conditions);
      if (found?.lastHeartbeatTime !== ready?.lastHeartbeatTime) return current;
      return { ...current, status: { ...current.status, conditions: silentConditions(current, now) } };
    };
    await client.change(ref, silence, { subresource: 'status', preconditions: { uid }, signal });
    nodeMetrics.nodeUpdated((clock.monotonicMs() - beginMs) / 1000);
    this.silenced.push(name);
  }

  private async taint(encoded: EncodedObject, facts: NodeFacts, signal: AbortSignal): Promise<void> {
    const { client, clock, config, nodeMetrics } = this.dependencies;
    const { name, uid, zone, ready } = facts;
    const eviction = this.evictionOf(facts);
    const wishes = { eviction, now: objectTime(clock.now()) };
    if (taintsAfter(encoded.parse(), wishes, config.naming)) {
      const change = (node: Node): Node => {
        const taints = taintsAfter(node, wishes, config.naming);
        return taints ? { ...node, spec: { ...node.spec, taints } } : node;
      };
      const ref = { served: this.nodes, namespace: '', name };
      const isChanged = (await client.change(ref, change, { preconditions: { uid }, signal })) !== undefined;
      if (isChanged && eviction === 'added') nodeMetrics.evicted(zone);
    }
    if (eviction === 'kept' && ready && !hasEvictionTaint(facts.taints, config.naming)) this.pace.request(zone, name);
    else this.pace.withdraw(name);
  }

  private evictionOf({ name, ready, taints }: NodeFacts): EvictionTaint {
    if (ready?.status === 'True' || this.zones.areHalted) return 'removed';
    const isTainted = hasEvictionTaint(taints, this.dependencies.config.naming);
    return !isTainted && this.pace.isGranted(name) ? 'added' : 'kept';
  }

  private async markPod(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { client, clock } = this.dependencies;
    const { store } = this.pods;
    const encoded = store.cache.get(store.keyOf(namespace, name));
    if (!encoded || encoded.corruption || this.yields) return;
    const node = this.factsNamed(encoded.attributes.fields['spec.nodeName'] ?? '');
    if (!node?.ready || node.ready.status === 'True') return;
    const now = objectTime(clock.now());
    if (!unreadyPod(encoded.parse(), now)) return;
    const { uid } = encoded.attributes;
    const ref = { served: this.pods, namespace, name };
    const change = (pod: Pod): Pod => unreadyPod(pod, now) ?? pod;
    const options = { subresource: 'status', signal, ...(uid !== undefined && { preconditions: { uid } }) };
    if (!(await client.change(ref, change, options))) return;
    const about = { kind: 'Pod', apiVersion: 'v1', namespace, name, uid };
    const event = { about, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready', component } as const;
    await recordEvent(this.dependencies, event, signal);
  }

  private record({ name, uid }: NodeFacts, reason: string, message: string): Promise<void> {
    const about = { kind: 'Node', apiVersion: 'v1', name, uid };
    return recordEvent(this.dependencies, { about, type: 'Normal', reason, message, component });
  }
}
