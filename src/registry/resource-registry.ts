import type { GroupResource, GroupVersionKind } from '../machinery/gvk.js';
import { compareKubeVersions } from '../machinery/kube-version.js';
import { assert } from '../std/assert.js';
import type { ApiLifecycle } from './apis/api-lifecycle.js';
import type { ComputeList, SubresourceHandler, VirtualHandler } from './apis/api-group.js';
import type { ResourceDefinition, VirtualResourceDefinition } from './definition/resource-definition.js';
import type { StructType } from '../machinery/type-model.js';
import type { ResourceStore } from './resource-store.js';

/** A resource with objects. */
export interface ServedResource {
  readonly type: 'stored';
  readonly definition: ResourceDefinition;
  /** The type of the served version; undefined for custom kinds. */
  readonly struct: StructType | undefined;
  readonly store: ResourceStore;
  readonly handlers: ReadonlyMap<string, SubresourceHandler>;
  /** Set if the objects are computed for each read; the store stays empty. */
  readonly computeList?: ComputeList;
  readonly lifecycle?: ApiLifecycle;
}

/** A resource without objects, whose only verb is create. */
export interface ServedVirtual {
  readonly type: 'virtual';
  readonly definition: VirtualResourceDefinition;
  readonly handle: VirtualHandler;
  readonly lifecycle?: ApiLifecycle;
}

export type Served = ServedResource | ServedVirtual;

/** True for resources of CustomResourceDefinitions. */
export function isCustom(served: Served): served is ServedResource {
  return served.type === 'stored' && served.definition.customType !== undefined;
}

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly resources: readonly Served[];
}

/** The served resources by group, version and name. Custom kinds are added, changed and removed at run time. */
export class ResourceRegistry {
  private readonly byPath = new Map<string, Served>();
  private readonly versions = new Map<string, ServedVersion>();
  private changes = 0;
  private readonly listeners = new Set<() => void>();

  /** Incremented on every change of the served resources; discovery and OpenAPI are computed anew only then. */
  get generation(): number {
    return this.changes;
  }

  /** Calls `listener` after each such change. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  find(group: string, version: string, resource: string): Served | undefined {
    return this.byPath.get(`${group}/${version}/${resource}`);
  }

  findVersion(group: string, version: string): ServedVersion | undefined {
    return this.versions.get(`${group}/${version}`);
  }

  /** Returns a resource that the server itself depends on; fails an assertion if it is not served. */
  require(group: string, version: string, resource: string): ServedResource {
    const found = this.find(group, version, resource);
    assert(found?.type === 'stored', `no store for ${resource} in ${group}/${version}`);
    return found;
  }

  /** Returns all served versions: groups by priority, then by name; in a group the preferred version first. */
  servedVersions(): ServedVersion[] {
    return [...this.versions.values()].sort(
      (a, b) =>
        b.groupPriority - a.groupPriority ||
        (a.group < b.group ? -1 : a.group > b.group ? 1 : 0) ||
        b.versionPriority - a.versionPriority ||
        compareKubeVersions(b.version, a.version),
    );
  }

  storedResources(): ServedResource[] {
    return [...this.byPath.values()].filter((served) => served.type === 'stored');
  }

  /** Returns the stored resources that serve the kind. */
  resourcesOfKind({ group, version, kind }: GroupVersionKind): (GroupResource & { readonly namespaced: boolean })[] {
    return (this.findVersion(group, version)?.resources ?? [])
      .filter(({ type, definition }) => type === 'stored' && definition.kind === kind)
      .map(({ definition }) => ({ group, resource: definition.plural, namespaced: definition.namespaced }));
  }

  addVersion(version: ServedVersion): void {
    const key = `${version.group}/${version.version}`;
    assert(!this.versions.has(key), `${key} is served twice: two API group modules name it`);
    this.put(key, version);
    this.changed();
  }

  /**
   * Replaces versions. A version without resources is removed. The caller closes the caches that are no longer needed.
   */
  replaceVersions(versions: readonly ServedVersion[]): void {
    if (versions.length === 0) return;
    for (const version of versions) {
      const key = `${version.group}/${version.version}`;
      this.drop(key);
      if (version.resources.length > 0) this.put(key, version);
    }
    this.changed();
  }

  private put(key: string, version: ServedVersion): void {
    this.versions.set(key, version);
    for (const served of version.resources) {
      const path = `${key}/${served.definition.plural}`;
      assert(!this.byPath.has(path), `${path} is served twice`);
      this.byPath.set(path, served);
    }
  }

  private drop(key: string): void {
    for (const { definition } of this.versions.get(key)?.resources ?? []) {
      this.byPath.delete(`${key}/${definition.plural}`);
    }
    this.versions.delete(key);
  }

  private changed(): void {
    this.changes++;
    for (const listener of this.listeners) listener();
  }
}
