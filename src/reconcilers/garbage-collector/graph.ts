import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject, Lifetime } from '../../cache/encoded-object.js';
import type { CacheObserver } from '../../cache/watch-cache.js';
import type { ObjectRef } from '../../client/loopback-client.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { OwnerReference } from '../../machinery/kube-object.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import { followAll } from '../follow.js';
import { orphansDependents, waitsForDependents } from './decide.js';
import { Ownership, type Dependent } from './ownership.js';

const noOwners: readonly OwnerReference[] = [];

/**
 * The ownerReferences of all stored objects. Calls `check` with the keys of objects that a change may affect. Synchronous;
 * an object without owners that is not being deleted costs two comparisons.
 */
export class OwnershipGraph {
  private readonly ownership = new Ownership();
  private readonly byPrefix = new Map<string, ServedResource>();
  private readonly uids = new WeakMap<EncodedObject, string>();
  private readonly end: () => void;

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly check: (key: string) => void,
  ) {
    this.end = followAll(registry, {
      observerOf: (served) => this.observerOf(served),
      gone: ({ store }) => {
        this.byPrefix.delete(store.cache.prefix);
        this.forgetAll(store.cache.prefix);
      },
    });
  }

  close(): void {
    this.end();
  }

  get dependents(): number {
    return this.ownership.size;
  }

  refOf(key: string): ObjectRef | undefined {
    const name = key.slice(key.lastIndexOf('/') + 1);
    const parent = key.slice(0, key.length - name.length);
    const whole = this.byPrefix.get(parent);
    if (whole) return { served: whole, namespace: '', name };
    const prefix = parent.slice(0, parent.lastIndexOf('/', parent.length - 2) + 1);
    const served = this.byPrefix.get(prefix);
    return served && { served, namespace: parent.slice(prefix.length, -1), name };
  }

  cached({ served: { store }, namespace, name }: ObjectRef): EncodedObject | undefined {
    return store.cache.get(store.keyOf(namespace, name));
  }

  lifetimeOf(key: string): Lifetime | undefined {
    const ref = this.refOf(key);
    return ref && this.cached(ref)?.attributes.lifetime;
  }

  /** Returns the owner of a dependent in the namespace; undefined if its kind is not served. */
  refOfOwner({ apiVersion, kind, name }: OwnerReference, namespace: string): ObjectRef | undefined {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const found = this.registry
      .findVersion(group, version)
      ?.resources.find((served) => served.type === 'stored' && served.definition.kind === kind);
    if (found?.type !== 'stored') return undefined;
    return { served: found, namespace: found.definition.namespaced ? namespace : '', name };
  }

  uidOf(encoded: EncodedObject): string {
    let uid = this.uids.get(encoded);
    if (uid === undefined) this.uids.set(encoded, (uid = encoded.parse().metadata.uid ?? ''));
    return uid;
  }

  /** Returns the objects with an ownerReference to this name and uid. */
  dependentsOf(ref: ObjectRef, uid: string): Dependent[] {
    return [...this.named(ref)].filter(({ owners }) => owners.some((owner) => owner.uid === uid));
  }

  private named({ served: { definition }, namespace, name }: ObjectRef): Iterable<Dependent> {
    const { group, kind, namespaced } = definition;
    return this.ownership.named({ group, kind, namespace: namespaced ? namespace : undefined, name });
  }

  private observerOf(served: ServedResource): CacheObserver | undefined {
    const { kind } = served.definition;
    // Events have no owners and no dependents, and are many.
    if (kind === 'Event' || served.computeList) return undefined;
    const { store } = served;
    this.byPrefix.set(store.cache.prefix, served);
    let isKnown = false;
    return {
      changed: (event) => this.changed(served, event),
      reset: () => {
        this.forgetAll(store.cache.prefix);
        for (const { key, attributes } of store.cache.snapshot().range(store.cache.prefix)) {
          if (!attributes.lifetime) continue;
          this.ownership.set(key, attributes.namespace, attributes.lifetime.owners);
          this.check(key);
        }
        // Owners may have been deleted between the two snapshots.
        if (isKnown) for (const key of this.ownership.keys()) this.check(key);
        isKnown = true;
      },
    };
  }

  private forgetAll(prefix: string): void {
    for (const key of [...this.ownership.keys()]) if (key.startsWith(prefix)) this.ownership.set(key, '', noOwners);
  }

  private changed(served: ServedResource, { key, previous, current }: CacheEvent): void {
    const before = previous?.attributes.lifetime;
    const after = current?.attributes.lifetime;
    const { namespace, name } = (current ?? previous)!.attributes;
    if (before || after) {
      const owners = after?.owners ?? noOwners;
      const had = before?.owners ?? noOwners;
      if (owners.length > 0 || had.length > 0) {
        this.ownership.set(key, namespace, owners);
        this.checkReleased(had, owners, namespace);
      }
      if (after && (ownersDiffer(had, owners) || startsWork(before, after))) this.check(key);
    }
    // The dependents of a deleted object, and of one that begins to wait for them.
    if (!current || (waitsForDependents(after) && !waitsForDependents(before))) {
      for (const dependent of this.named({ served, namespace, name })) this.check(dependent.key);
    }
  }

  /** Checks owners that wait if the change removed a reference that blocked them. */
  private checkReleased(had: readonly OwnerReference[], has: readonly OwnerReference[], namespace: string): void {
    const left = new Map([...has].reverse().map((reference) => [reference.uid, reference]));
    for (const reference of had) {
      const still = left.get(reference.uid);
      if (still && (still.blockOwnerDeletion || !reference.blockOwnerDeletion)) continue;
      const ref = this.refOfOwner(reference, namespace);
      const encoded = ref && this.cached(ref);
      if (encoded && waitsForDependents(encoded.attributes.lifetime)) this.check(encoded.key);
    }
  }
}

function ownersDiffer(had: readonly OwnerReference[], has: readonly OwnerReference[]): boolean {
  return has.length !== had.length || has.some(({ uid }, at) => had[at]!.uid !== uid);
}

function startsWork(before: Lifetime | undefined, after: Lifetime): boolean {
  return (
    (waitsForDependents(after) && !waitsForDependents(before)) ||
    (orphansDependents(after) && !orphansDependents(before))
  );
}
