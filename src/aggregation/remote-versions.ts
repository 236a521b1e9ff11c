import type { EncodedObject } from '../cache/encoded-object.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import { remoteVersionOf, type RemoteVersion } from './remote-version.js';

interface Dependencies {
  readonly registry: ResourceRegistry;
  /** `apiregistration.k8s.io` */
  readonly group: string;
}

/**
 * The APIServices with a Service, as the watch cache has them. A group and version that this server serves itself is never
 * one of them, whatever its APIService says.
 */
export class RemoteVersions {
  private readonly byName = new Map<string, RemoteVersion>();
  private readonly byPath = new Map<string, RemoteVersion>();
  private readonly listeners = new Set<(name: string) => void>();
  private readonly failureListeners = new Set<(name: string) => void>();
  private changes = 0;
  private followed: { readonly store: ResourceStore; readonly end: () => void } | undefined;
  private readonly forget: () => void;

  constructor(private readonly dependencies: Dependencies) {
    this.forget = dependencies.registry.onChange(() => this.follow());
    this.follow();
  }

  /** Incremented on every change of an APIService with a Service, its condition included. */
  get generation(): number {
    return this.changes;
  }

  /** Returns the aggregated server of a version that this server does not serve. */
  find(group: string, version: string): RemoteVersion | undefined {
    if (this.byPath.size === 0) return undefined;
    const found = this.byPath.get(`${group}/${version}`);
    return found && !this.dependencies.registry.findVersion(group, version) ? found : undefined;
  }

  /** Returns the version that an APIService names, unless this server serves it. */
  named(name: string): RemoteVersion | undefined {
    const found = this.byName.get(name);
    return found && this.find(found.group, found.version);
  }

  list(): RemoteVersion[] {
    if (this.byPath.size === 0) return [];
    const { registry } = this.dependencies;
    return [...this.byPath.values()].filter(({ group, version }) => !registry.findVersion(group, version));
  }

  /** Calls `listener` with the name of each APIService with a Service that was added, changed or removed. */
  onChange(listener: (name: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Calls `listener` with the name of an APIService to whose server a request could not be forwarded. */
  onFailure(listener: (name: string) => void): () => void {
    this.failureListeners.add(listener);
    return () => void this.failureListeners.delete(listener);
  }

  failed({ name }: RemoteVersion): void {
    for (const listener of this.failureListeners) listener(name);
  }

  close(): void {
    this.forget();
    this.followed?.end();
    this.followed = undefined;
  }

  private follow(): void {
    const { registry, group } = this.dependencies;
    const found = registry.find(group, 'v1', 'apiservices');
    const store = found?.type === 'stored' ? found.store : undefined;
    if (this.followed?.store === store) return;
    this.followed?.end();
    this.followed = store && { store, end: () => undefined };
    if (!store) return;
    const end = store.cache.observe({
      changed: ({ current, previous }) => this.set((current ?? previous)!.attributes.name, current),
      reset: () => {
        const present = [...store.cache.snapshot().range(store.scopeOf(''))];
        const names = new Set(present.map(({ attributes }) => attributes.name));
        for (const name of [...this.byName.keys()]) if (!names.has(name)) this.set(name, undefined);
        for (const entry of present) this.set(entry.attributes.name, entry);
      },
    });
    this.followed = { store, end };
  }

  private set(name: string, entry: EncodedObject | undefined): void {
    const before = this.byName.get(name);
    const after = entry && !entry.corruption ? remoteVersionOf(entry.parse()) : undefined;
    if (!before && !after) return;
    if (before) this.byPath.delete(`${before.group}/${before.version}`);
    this.byName.delete(name);
    if (after) {
      this.byName.set(name, after);
      this.byPath.set(`${after.group}/${after.version}`, after);
    }
    this.changes++;
    for (const listener of this.listeners) listener(name);
  }
}
