import type { OwnerReference } from '../../machinery/kube-object.js';
import { parseApiVersion } from '../../machinery/gvk.js';

/** Who depends on something: its place, and whom it names. */
export interface Dependent {
  readonly key: string;
  readonly namespace: string;
  readonly owners: readonly OwnerReference[];
}

export interface OwnerPlace {
  readonly group: string;
  readonly kind: string;
  /** Undefined for owners of the whole cluster, which may have dependents in every namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Which objects name which owners. Only edges are held, found by the name of the owner: an object that nothing owns
 * costs nothing here, and an owner that does not exist (yet) is found like any other.
 *
 *   apps ReplicaSet web-5d9 ──┬── shop ── /registry/pods/shop/web-5d9-x, …-y
 *                             └── test ── /registry/pods/test/web-5d9-z      (of another owner of that name)
 */
export class Ownership {
  private readonly dependents = new Map<string, Dependent>();
  private readonly byOwner = new Map<string, Map<string, Set<string>>>();

  /** What is now known of an object; nothing when it is gone or names no owners. */
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

  /** Those that name an owner in this place, whatever its uid. */
  *named({ group, kind, namespace, name }: OwnerPlace): Generator<Dependent> {
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

export function groupOf({ apiVersion }: OwnerReference): string {
  return parseApiVersion(apiVersion)?.group ?? '';
}

const idOf = (group: string, kind: string, name: string) => `${group}/${kind}/${name}`;
