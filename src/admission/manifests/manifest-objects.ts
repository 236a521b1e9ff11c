import { deepEqual } from '../../machinery/deep-equal.js';
import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { ParamResource, PolicyListener, PolicyObjects } from '../policies/policy-objects.js';
import type { Manifests } from './read-manifests.js';

/** The manifests of one directory, which are followed as stored objects are. */
export class ManifestObjects implements PolicyObjects {
  private readonly listeners = new Map<string, PolicyListener>();
  private current: Manifests = new Map();
  private generation = 0;

  constructor(private readonly stored: PolicyObjects) {}

  follow(_group: string, _version: string, plural: string, listener: PolicyListener): void {
    this.listeners.set(plural, listener);
    for (const [name, object] of this.current.get(plural) ?? []) listener.changed(name, object);
  }

  equivalentsOf(served: ServedResource): readonly ServedResource[] {
    return this.stored.equivalentsOf(served);
  }

  paramsOf(kind: GroupVersionKind): ParamResource | undefined {
    return this.stored.paramsOf(kind);
  }

  /** Puts new manifests in force, all in one step. Objects that have not changed stay compiled. */
  replace(next: Manifests): void {
    const before = this.current;
    const kept = new Map<string, ReadonlyMap<string, KubeObject>>();
    this.current = kept;
    this.generation++;
    for (const [plural, objects] of next) {
      const old = before.get(plural) ?? new Map<string, KubeObject>();
      const keptObjects = new Map<string, KubeObject>();
      kept.set(plural, keptObjects);
      const listener = this.listeners.get(plural);
      for (const name of old.keys()) if (!objects.has(name)) listener?.deleted(name);
      for (const [name, object] of objects) {
        object.metadata.generation = this.generation;
        const existing = old.get(name);
        const isSame = existing && deepEqual({ ...existing, metadata: object.metadata }, object);
        keptObjects.set(name, isSame ? existing : object);
        if (!isSame) listener?.changed(name, object);
      }
    }
  }
}
