import type { GroupResource, GroupVersionKind } from '../machinery/gvk.js';
import { compareKubeVersions } from '../machinery/kube-version.js';
import { assert } from '../std/assert.js';
import type { ApiLifecycle } from './api-lifecycle.js';
import type { MadeObjects, SubresourceHandler, VirtualHandler } from './api-group.js';
import type { ResourceDefinition, VirtualResourceDefinition } from './resource-definition.js';
import type { StructType } from '../machinery/type-model.js';
import type { ResourceStore } from './resource-store.js';

/** A resource with objects behind it. */
export interface ServedResource {
  readonly type: 'stored';
  readonly definition: ResourceDefinition;
  /** Of the served version's objects; undefined for kinds that are not built in. */
  readonly struct: StructType | undefined;
  readonly store: ResourceStore;
  readonly handlers: ReadonlyMap<string, SubresourceHandler>;
  /** Set where objects are made for each read; the store then stays empty. */
  readonly made?: MadeObjects;
  readonly lifecycle?: ApiLifecycle;
}

/** A resource that is only an operation. */
export interface ServedVirtual {
  readonly type: 'virtual';
  readonly definition: VirtualResourceDefinition;
  readonly handle: VirtualHandler;
  readonly lifecycle?: ApiLifecycle;
}

export type Served = ServedResource | ServedVirtual;

/** Whether it is of a kind that somebody defined. */
export function isCustom(served: Served): served is ServedResource {
  return served.type === 'stored' && served.definition.form !== undefined;
}

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly resources: readonly Served[];
}

/** Where definitions and stores meet the verbs. Kinds come and go while the server runs; `generation` counts that. */
export class ResourceRegistry {
  private readonly byPath = new Map<string, Served>();
  private readonly versions = new Map<string, ServedVersion>();
  private changes = 0;
  private readonly listeners = new Set<() => void>();

  /** Changes whenever what is served does; discovery is built anew only then. */
  get generation(): number {
    return this.changes;
  }

  /** Calls `listener` after each such change. The function returned ends it. */
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

  /** The served resource that another part of the server depends on: its absence is our bug. */
  require(group: string, version: string, resource: string): ServedResource {
    const found = this.find(group, version, resource);
    assert(found?.type === 'stored', `no store for ${resource} in ${group}/${version}`);
    return found;
  }

  /** All served versions: groups by priority, then by name; in a group the preferred version first. */
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

  /** The stored resources whose objects are of the kind. */
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
   * Serves versions as they are now, in the place of what they were; one without resources is gone. Whoever does it
   * closes the caches that are no longer needed.
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

  removeVersion(group: string, version: string): void {
    const key = `${group}/${version}`;
    const found = this.versions.get(key);
    if (!found) return;
    this.drop(key);
    for (const served of found.resources) {
      if (served.type === 'stored') served.store.parts.feed.removeResource(served.store.scopeOf(''));
    }
    this.changed();
  }

  private changed(): void {
    this.changes++;
    for (const listener of this.listeners) listener();
  }
}
