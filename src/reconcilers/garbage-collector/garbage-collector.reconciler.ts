import { isReason, type ObjectRef } from '../../client/loopback-client.js';
import { foregroundFinalizer, orphanFinalizer } from '../../machinery/finalizers.js';
import { apiVersionOf, qualifiedResource } from '../../machinery/gvk.js';
import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import { decide, isBlocked, orphansDependents, waitsForDependents, type Owner } from './decide.js';
import { OwnershipGraph } from './graph.js';
import { RemoteOwners } from './remote-owners.js';

/** Deletes or orphans the dependents of deleted objects, as the propagation policy of their deletion requests. */
export const garbageCollector = defineReconciler({
  name: 'garbage-collector-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'generic-garbage-collector',
  start: (dependencies) => new GarbageCollection(dependencies),
});

/** That of kube-controller-manager. */
const workersMax = 20;
/** Longer than any server takes between the two steps of a deletion. */
const secondStepMs = 10_000;
/** Deletions on aggregated servers cause no events here: their dependents are checked again after this time. */
const remoteOwnerMs = 15_000;

class GarbageCollection implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly graph: OwnershipGraph;
  /** Objects with owners of kinds that are not served, or not known to exist: checked again when served kinds change. */
  private readonly undecided = new Set<string>();
  /** Objects without the second step of their deletion: another server may be about to make it. */
  private readonly halfDeleted = new Set<string>();
  private readonly remoteOwners: RemoteOwners;
  private readonly ends: readonly (() => void)[];

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { aggregation, remoteObjects: objects, clock } = dependencies;
    this.remoteOwners = new RemoteOwners({ aggregation, objects, clock });
    this.queue = dependencies.queue('garbage_collector', (key, signal) => this.reconcile(key, signal), { workersMax });
    this.graph = new OwnershipGraph(dependencies.registry, (key) => this.queue.add(key));
    const recheck = () => {
      for (const key of this.undecided) this.queue.add(key);
      this.undecided.clear();
    };
    this.ends = [dependencies.registry.onChange(recheck), aggregation.documents.onDiscovery(recheck)];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    this.graph.close();
    await this.queue.stop();
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    this.undecided.delete(key);
    const ref = this.graph.refOf(key);
    const encoded = ref && this.graph.cached(ref);
    if (!encoded || encoded.corruption) return;
    const { lifetime } = encoded.attributes;
    if (!lifetime) return;
    const uid = this.graph.uidOf(encoded);
    if (orphansDependents(lifetime)) return this.orphan(ref, uid, signal);
    if (waitsForDependents(lifetime)) return this.awaitDependents(key, ref, uid, signal);
    if (lifetime.isDeleting && lifetime.finalizers.length === 0) return this.finish(key, ref, uid, signal);
    if (lifetime.isDeleting || lifetime.owners.length === 0) return;
    return this.checkOwners(key, ref, uid, signal);
  }

  /** Makes the second step of a deletion that has two, in case the server that made the first one was killed. */
  private async finish(
    key: string,
    ref: ObjectRef,
    uid: string,
    signal: AbortSignal,
  ): Promise<void | { againInMs: number }> {
    if (!ref.served.definition.strategy.deletion?.graceSeconds) return;
    if (this.dependencies.sharesStore && !this.halfDeleted.delete(key)) {
      this.halfDeleted.add(key);
      return { againInMs: secondStepMs };
    }
    const live = await this.dependencies.client.live(ref, signal);
    if (live?.metadata.uid !== uid || (live.metadata.deletionGracePeriodSeconds ?? 0) > 0) return;
    await this.dependencies.client.delete(ref, { preconditions: { uid } }, signal);
  }

  /** Reads the cache first, by which nearly all objects are kept. Every other decision is made from the store. */
  private async checkOwners(
    key: string,
    ref: ObjectRef,
    uid: string,
    signal: AbortSignal,
  ): Promise<void | { againInMs: number }> {
    const { lifetime } = this.graph.cached(ref)!.attributes;
    if (lifetime!.owners.every((owner) => this.cachedState(owner, ref) === 'solid')) return;
    const live = await this.dependencies.client.live(ref, signal);
    if (!live || live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return;
    const { ownerReferences = [], finalizers = [], resourceVersion } = live.metadata;
    const owners: Owner[] = [];
    for (const reference of ownerReferences) {
      owners.push({ reference, state: await this.stateOf(reference, ref, signal) });
    }
    if (owners.some(({ state }) => state === 'unknown')) this.undecided.add(key);
    for (const { reference, state } of owners) if (state === 'misplaced') await this.warn(ref, uid, reference, signal);

    const dependents = this.graph.dependentsOf(ref, uid);
    const decision = decide(owners, finalizers, {
      any: dependents.length > 0,
      waiting: dependents.some((dependent) => waitsForDependents(this.graph.lifetimeOf(dependent.key))),
    });
    if (decision.action === 'keep') {
      const hasRemote = ownerReferences.some((owner) => this.remoteOwners.refOf(owner));
      return hasRemote ? { againInMs: remoteOwnerMs } : undefined;
    }
    if (decision.action === 'remove owners') return this.removeOwners(ref, uid, decision.uids, signal);
    if (decision.unblocksOwners) await this.unblockOwners(ref, uid, signal);
    const { policy: propagationPolicy, unblocksOwners } = decision;
    const preconditions = { uid, ...(!unblocksOwners && resourceVersion !== undefined && { resourceVersion }) };
    await this.dependencies.client.delete(ref, { propagationPolicy, preconditions }, signal);
  }

  private cachedState(owner: OwnerReference, dependent: ObjectRef): 'solid' | 'other' {
    const ref = this.refOfOwner(owner, dependent);
    const encoded = typeof ref === 'object' ? this.graph.cached(ref) : undefined;
    if (!encoded || encoded.corruption || waitsForDependents(encoded.attributes.lifetime)) return 'other';
    return this.graph.uidOf(encoded) === owner.uid ? 'solid' : 'other';
  }

  private async stateOf(owner: OwnerReference, dependent: ObjectRef, signal: AbortSignal): Promise<Owner['state']> {
    const ref = this.refOfOwner(owner, dependent);
    if (ref === 'unknown') {
      const { namespace, served } = dependent;
      return this.remoteOwners.stateOf(owner, { namespace, isNamespaced: served.definition.namespaced }, signal);
    }
    if (ref === 'misplaced') return ref;
    const live = await this.dependencies.client.live(ref, signal);
    if (!live || live.metadata.uid !== owner.uid) return 'absent';
    const { deletionTimestamp, finalizers = [] } = live.metadata;
    return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer) ? 'waiting' : 'solid';
  }

  private refOfOwner(owner: OwnerReference, dependent: ObjectRef): ObjectRef | 'unknown' | 'misplaced' {
    const ref = this.graph.refOfOwner(owner, dependent.namespace);
    if (!ref) return 'unknown';
    return ref.served.definition.namespaced && !dependent.served.definition.namespaced ? 'misplaced' : ref;
  }

  /** Removes the object from the ownerReferences of its dependents, then removes its finalizer. */
  private async orphan(ref: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.waitForCache(ref, signal);
    const { client, clock } = this.dependencies;
    await forEachConcurrent(this.graph.dependentsOf(ref, uid), { concurrency: workersMax, clock }, async ({ key }) => {
      const dependent = this.graph.refOf(key);
      if (dependent) await client.change(dependent, (object) => withoutOwners(object, [uid]), { signal });
    });
    await this.removeFinalizer(ref, uid, orphanFinalizer, signal);
  }

  /** Removes the finalizer if no dependent blocks the object; otherwise queues the blockers, whose deletion queues it again. */
  private async awaitDependents(key: string, ref: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.waitForCache(ref, signal);
    const notWaiting = this.blockersOf(key).filter((blocker) => !waitsForDependents(this.graph.lifetimeOf(blocker)));
    for (const blocker of notWaiting) this.queue.add(blocker);
    if (notWaiting.length > 0 || isBlocked(key, (blocker) => this.blockersOf(blocker))) return;
    await this.removeFinalizer(ref, uid, foregroundFinalizer, signal);
  }

  /** Returns the dependents that an object waits for; none if it does not wait. */
  private blockersOf(key: string): string[] {
    const ref = this.graph.refOf(key);
    const encoded = ref && this.graph.cached(ref);
    if (!encoded || encoded.corruption || !waitsForDependents(encoded.attributes.lifetime)) return [];
    const uid = this.graph.uidOf(encoded);
    const blocks = (owner: OwnerReference) => owner.uid === uid && owner.blockOwnerDeletion === true;
    return this.graph
      .dependentsOf(ref, uid)
      .filter(({ owners }) => owners.some(blocks))
      .map((dependent) => dependent.key);
  }

  /** Waits until the cache has all dependents that were written before the call. */
  private async waitForCache({ served }: ObjectRef, signal: AbortSignal): Promise<void> {
    const { feed, limits } = served.store.dependencies;
    await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
  }

  private async removeFinalizer(ref: ObjectRef, uid: string, finalizer: string, signal: AbortSignal): Promise<void> {
    await this.changeSame(ref, uid, signal, (object) => {
      const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer);
      const { finalizers: _before, ...metadata } = object.metadata;
      return { ...object, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata };
    });
  }

  private async removeOwners(
    ref: ObjectRef,
    uid: string,
    owners: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.changeSame(ref, uid, signal, (object) => withoutOwners(object, owners));
  }

  private async unblockOwners(ref: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.changeSame(ref, uid, signal, (object) => {
      const ownerReferences = (object.metadata.ownerReferences ?? []).map((owner) =>
        owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
      );
      return { ...object, metadata: { ...object.metadata, ownerReferences } };
    });
  }

  /** Does nothing if another object has the name by now. */
  private async changeSame(
    ref: ObjectRef,
    uid: string,
    signal: AbortSignal,
    changed: (object: KubeObject) => KubeObject,
  ): Promise<void> {
    try {
      await this.dependencies.client.change(ref, changed, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
      const live = await this.dependencies.client.live(ref, signal);
      if (live?.metadata.uid === uid) throw error;
    }
  }

  /** Writes an Event, one for each owner, since such an object is never deleted: Events of cluster-scoped objects are in `default`. */
  private async warn(ref: ObjectRef, uid: string, owner: OwnerReference, signal: AbortSignal): Promise<void> {
    const { registry, clock, client } = this.dependencies;
    const { group, version, kind, plural } = ref.served.definition;
    const time = objectTime(clock.now());
    const apiVersion = apiVersionOf(group, version);
    await client.create(
      registry.require('', 'v1', 'events'),
      {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { name: `${ref.name}.${owner.uid}`, namespace: 'default' },
        involvedObject: { kind, apiVersion, name: ref.name, uid },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `${qualifiedResource(group, plural)} ${ref.name} is in no namespace and cannot be owned by ${owner.kind} ${owner.name} (${owner.apiVersion}, uid ${owner.uid}), which is in one`,
        source: { component: this.dependencies.name },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
      },
      signal,
    );
  }
}

function withoutOwners(object: KubeObject, uids: readonly string[]): KubeObject {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const gone = new Set(uids);
  const left = ownerReferences.filter(({ uid }) => !gone.has(uid));
  if (left.length === ownerReferences.length) return object;
  return { ...object, metadata: left.length > 0 ? { ...metadata, ownerReferences: left } : metadata };
}
