import type { CacheObserver, WatchCache } from '../cache/watch-cache.js';
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';

/** Resources that hold objects, each once however many versions of it are served. */
export function storesOf(registry: ResourceRegistry): Map<WatchCache, ServedResource> {
  const stores = new Map<WatchCache, ServedResource>();
  for (const served of registry.storedResources()) {
    const { cache } = served.store;
    // The stored version, where it is served: its objects need no conversion.
    if (!stores.has(cache) || served.definition === served.store.definition) stores.set(cache, served);
  }
  return stores;
}

export interface Follower {
  /** Called before anything is told of the resource. */
  observerOf(served: ServedResource): CacheObserver | undefined;
  /** The resource is served no more. */
  gone?(served: ServedResource): void;
}

/** Follows every stored resource, also those that come later. The function returned ends it. */
export function followAll(registry: ResourceRegistry, follower: Follower): () => void {
  const followed = new Map<WatchCache, { readonly served: ServedResource; readonly end: () => void }>();
  const look = () => {
    const stores = storesOf(registry);
    for (const [cache, { served, end }] of followed) {
      if (stores.has(cache)) continue;
      end();
      followed.delete(cache);
      follower.gone?.(served);
    }
    for (const [cache, served] of stores) {
      if (followed.has(cache)) continue;
      const observer = follower.observerOf(served);
      followed.set(cache, { served, end: observer ? cache.observe(observer) : () => undefined });
    }
  };
  look();
  const forget = registry.onChange(look);
  return () => {
    forget();
    for (const { end } of followed.values()) end();
    followed.clear();
  };
}

/** Names of all objects that are there, and then of each that changes: all that most reconcilers want to know. */
export function followNames({ store }: ServedResource, changed: (namespace: string, name: string) => void): () => void {
  return store.cache.observe({
    changed(event) {
      const { namespace, name } = (event.current ?? event.previous)!.attributes;
      changed(namespace, name);
    },
    reset() {
      for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) {
        changed(attributes.namespace, attributes.name);
      }
    },
  });
}
