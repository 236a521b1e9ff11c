import { isReason, type ObjectRef } from '../../client/loopback-client.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import {
  decide,
  foregroundFinalizer,
  isBlocked,
  orphanFinalizer,
  orphansDependents,
  waitsForDependents,
  type Owner,
} from './decide.js';
import { OwnershipGraph } from './graph.js';

/** What owners leave behind goes after them, or before them, or is let go, as their deletion asked. */
export const garbageCollector: Reconciler = {
  name: 'garbage-collector-controller',
  yieldsToUpstream: true,
  account: 'generic-garbage-collector',
  start: (parts) => new GarbageCollection(parts),
};

/** As many as the reference has. */
const workersMax = 20;
/** Longer than any other server takes from the first step of a deletion to the second. */
const deletionMs = 10_000;

class GarbageCollection implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly graph: OwnershipGraph;
  /** Objects whose owners are of kinds that are not served: looked at again when kinds come. */
  private readonly undecided = new Set<string>();
  /** Objects that were found half deleted: whoever deletes them may still be at it. */
  private readonly halfDeleted = new Set<string>();
  private readonly forget: () => void;

  constructor(private readonly parts: ReconcilerParts) {
    this.queue = parts.queue('garbage_collector', (key, signal) => this.reconcile(key, signal), { workersMax });
    this.graph = new OwnershipGraph(parts.registry, (key) => this.queue.add(key));
    this.forget = parts.registry.onChange(() => {
      for (const key of this.undecided) this.queue.add(key);
      this.undecided.clear();
    });
  }

  async stop(): Promise<void> {
    this.forget();
    this.graph.close();
    await this.queue.stop();
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    this.undecided.delete(key);
    const place = this.graph.placeOf(key);
    const encoded = place && this.graph.cached(place);
    if (!encoded || encoded.corruption) return;
    const { lifetime } = encoded.attributes;
    if (!lifetime) return;
    const uid = this.graph.uidOf(encoded);
    if (orphansDependents(lifetime)) return this.orphan(place, uid, signal);
    if (waitsForDependents(lifetime)) return this.awaitDependents(key, place, uid, signal);
    if (lifetime.isDeleting && lifetime.finalizers.length === 0) return this.finish(key, place, uid, signal);
    if (lifetime.isDeleting || lifetime.owners.length === 0) return;
    await this.judge(key, place, uid, signal);
  }

  /** A server that was killed between the two steps in which some kinds are deleted has left the second to us. */
  private async finish(
    key: string,
    place: ObjectRef,
    uid: string,
    signal: AbortSignal,
  ): Promise<void | { againInMs: number }> {
    if (!place.served.definition.strategy.deletion?.graceSeconds) return;
    if (this.parts.sharesStore && !this.halfDeleted.delete(key)) {
      this.halfDeleted.add(key);
      return { againInMs: deletionMs };
    }
    const live = await this.parts.client.live(place, signal);
    if (live?.metadata.uid !== uid || (live.metadata.deletionGracePeriodSeconds ?? 0) > 0) return;
    await this.parts.client.delete(place, { preconditions: { uid } }, signal);
  }

  /** From the cache first, which nearly always says that it stays; otherwise nothing is believed but the store. */
  private async judge(key: string, place: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    const { lifetime } = this.graph.cached(place)!.attributes;
    if (lifetime!.owners.every((owner) => this.cachedState(owner, place) === 'solid')) return;
    const live = await this.parts.client.live(place, signal);
    if (!live || live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return;
    const { ownerReferences = [], finalizers = [], resourceVersion } = live.metadata;
    const owners: Owner[] = [];
    for (const reference of ownerReferences) {
      owners.push({ reference, state: await this.stateOf(reference, place, signal) });
    }
    if (owners.some(({ state }) => state === 'unknown')) this.undecided.add(key);
    for (const { reference, state } of owners)
      if (state === 'misplaced') await this.warn(place, uid, reference, signal);

    const dependents = this.graph.dependentsOf(place, uid);
    const decision = decide(owners, finalizers, {
      any: dependents.length > 0,
      waiting: dependents.some((dependent) => waitsForDependents(this.graph.lifetimeOf(dependent.key))),
    });
    if (decision.then === 'stays') return;
    if (decision.then === 'forgets') return this.forgetOwners(place, uid, decision.uids, signal);
    if (decision.unblocksOwners) await this.unblockOwners(place, uid, signal);
    const { policy: propagationPolicy, unblocksOwners } = decision;
    const preconditions = { uid, ...(!unblocksOwners && resourceVersion !== undefined && { resourceVersion }) };
    await this.parts.client.delete(place, { propagationPolicy, preconditions }, signal);
  }

  private cachedState(owner: OwnerReference, dependent: ObjectRef): 'solid' | 'other' {
    const place = this.placeOfOwner(owner, dependent);
    const encoded = typeof place === 'object' ? this.graph.cached(place) : undefined;
    if (!encoded || encoded.corruption || waitsForDependents(encoded.attributes.lifetime)) return 'other';
    return this.graph.uidOf(encoded) === owner.uid ? 'solid' : 'other';
  }

  private async stateOf(owner: OwnerReference, dependent: ObjectRef, signal: AbortSignal): Promise<Owner['state']> {
    const place = this.placeOfOwner(owner, dependent);
    if (typeof place === 'string') return place;
    const live = await this.parts.client.live(place, signal);
    if (!live || live.metadata.uid !== owner.uid) return 'absent';
    const { deletionTimestamp, finalizers = [] } = live.metadata;
    return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer) ? 'waiting' : 'solid';
  }

  private placeOfOwner(owner: OwnerReference, dependent: ObjectRef): ObjectRef | 'unknown' | 'misplaced' {
    const place = this.graph.placeOfOwner(owner, dependent.namespace);
    if (!place) return 'unknown';
    return place.served.definition.namespaced && !dependent.served.definition.namespaced ? 'misplaced' : place;
  }

  /** Its dependents forget it, then it may go. */
  private async orphan(place: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.catchUp(place, signal);
    const { client, clock } = this.parts;
    await forEachConcurrent(
      this.graph.dependentsOf(place, uid),
      { concurrency: workersMax, clock },
      async ({ key }) => {
        const dependent = this.graph.placeOf(key);
        if (dependent) await client.change(dependent, (object) => withoutOwners(object, [uid]), { signal });
      },
    );
    await this.release(place, uid, orphanFinalizer, signal);
  }

  /** It may go when nothing is in its way; what is, is looked at, and tells when it has gone. */
  private async awaitDependents(key: string, place: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.catchUp(place, signal);
    const standing = this.blockersOf(key).filter((blocker) => !waitsForDependents(this.graph.lifetimeOf(blocker)));
    for (const blocker of standing) this.queue.add(blocker);
    if (standing.length > 0 || isBlocked(key, (blocker) => this.blockersOf(blocker))) return;
    await this.release(place, uid, foregroundFinalizer, signal);
  }

  /** Dependents that an object waits for; none when it does not wait. */
  private blockersOf(key: string): string[] {
    const place = this.graph.placeOf(key);
    const encoded = place && this.graph.cached(place);
    if (!encoded || encoded.corruption || !waitsForDependents(encoded.attributes.lifetime)) return [];
    const uid = this.graph.uidOf(encoded);
    const blocks = (owner: OwnerReference) => owner.uid === uid && owner.blockOwnerDeletion === true;
    return this.graph
      .dependentsOf(place, uid)
      .filter(({ owners }) => owners.some(blocks))
      .map((dependent) => dependent.key);
  }

  /** Dependents that were acknowledged before the call are known after it. */
  private async catchUp({ served }: ObjectRef, signal: AbortSignal): Promise<void> {
    const { feed, limits } = served.store.dependencies;
    await feed.consistentRevision({ signal, timeoutMs: limits.freshnessTimeoutMs });
  }

  private async release(place: ObjectRef, uid: string, finalizer: string, signal: AbortSignal): Promise<void> {
    await this.changeSame(place, uid, signal, (object) => {
      const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer);
      const { finalizers: _before, ...metadata } = object.metadata;
      return { ...object, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata };
    });
  }

  private async forgetOwners(
    place: ObjectRef,
    uid: string,
    owners: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.changeSame(place, uid, signal, (object) => withoutOwners(object, owners));
  }

  private async unblockOwners(place: ObjectRef, uid: string, signal: AbortSignal): Promise<void> {
    await this.changeSame(place, uid, signal, (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        ownerReferences: object.metadata.ownerReferences?.map((owner) =>
          owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
        ),
      } as KubeObject['metadata'],
    }));
  }

  /** Another object of the same name is none of ours. */
  private async changeSame(
    place: ObjectRef,
    uid: string,
    signal: AbortSignal,
    changed: (object: KubeObject) => KubeObject,
  ): Promise<void> {
    try {
      await this.parts.client.change(place, changed, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
      const live = await this.parts.client.live(place, signal);
      if (live?.metadata.uid === uid) throw error;
    }
  }

  /** It is kept for ever: who made it should hear of it. One Event for each owner, in the namespace that has those of the cluster. */
  private async warn(place: ObjectRef, uid: string, owner: OwnerReference, signal: AbortSignal): Promise<void> {
    const { registry, clock, client } = this.parts;
    const { group, version, kind, plural } = place.served.definition;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const apiVersion = group === '' ? version : `${group}/${version}`;
    await client.create(
      registry.require('', 'v1', 'events'),
      {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { name: `${place.name}.${owner.uid}`, namespace: 'default' },
        involvedObject: { kind, apiVersion, name: place.name, uid },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `${qualifiedResource(group, plural)} ${place.name} is in no namespace and cannot be owned by ${owner.kind} ${owner.name} (${owner.apiVersion}, uid ${owner.uid}), which is in one`,
        source: { component: this.parts.name },
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
