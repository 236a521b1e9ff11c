import type { OwnerReference } from '../../machinery/kube-object.js';
import { parseApiVersion } from '../../machinery/gvk.js';

/** An object with ownerReferences. */
export interface Dependent {
  readonly key: string;
  readonly namespace: string;
  readonly owners: readonly OwnerReference[];
}

/** Names an owner without its uid. */
interface OwnerName {
  readonly group: string;
  readonly kind: string;
  /** Undefined for cluster-scoped owners, which may have dependents in every namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * The ownerReferences by the name of the owner. Objects without owners take no memory, and owners that do not exist (yet)
 * are found like others.
 *
 *   apps ReplicaSet web-5d9 ──┬── shop ── /registry/pods/shop/web-5d9-x, …-y
 *                             └── test ── /registry/pods/test/web-5d9-z      (of another owner of that name)
 */
export class Ownership {
  private readonly dependents = new Map<string, Dependent>();
  private readonly byOwner = new Map<string, Map<string, Set<string>>>();

  /** Sets the owners of an object; none if it was deleted. */
  set(key: string, namespace: string, owners: readonly OwnerReference[]): void {
    const before = this.dependents.get(key);
    if (before) this.remove(before);
    if (owners.length === 0) return;
    const dependent = { key, namespace, owners };
    this.dependents.set(key, dependent);
    for (const owner of owners) {
      const id = idOf(groupOf(owner), owner.kind, owner.name);
      let spaces = this.byOwner.get(id);
      if (!spaces) this.byOwner.set(id, (spaces = new Map<string, Set<string>>()));
      const keys = spaces.get(namespace);
      if (keys) keys.add(key);
      else spaces.set(namespace, new Set([key]));
    }
  }

  get size(): number {
    return this.dependents.size;
  }

  keys(): Iterable<string> {
    return this.dependents.keys();
  }

  /** Returns the objects with an ownerReference to this name, with any uid. */
  *named({ group, kind, namespace, name }: OwnerName): Generator<Dependent> {
    const spaces = this.byOwner.get(idOf(group, kind, name));
    if (!spaces) return;
    for (const [space, keys] of spaces) {
      if (namespace !== undefined && space !== namespace) continue;
      for (const key of keys) yield this.dependents.get(key)!;
    }
  }

  private remove({ key, namespace, owners }: Dependent): void {
    this.dependents.delete(key);
    for (const owner of owners) {
      const id = idOf(groupOf(owner), owner.kind, owner.name);
      const spaces = this.byOwner.get(id);
      const keys = spaces?.get(namespace);
      if (!spaces || !keys) continue;
      keys.delete(key);
      if (keys.size === 0) spaces.delete(namespace);
      if (spaces.size === 0) this.byOwner.delete(id);
    }
  }
}

function groupOf({ apiVersion }: OwnerReference): string {
  return parseApiVersion(apiVersion)?.group ?? '';
}

const idOf = (group: string, kind: string, name: string) => `${group}/${kind}/${name}`;
