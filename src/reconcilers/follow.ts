import type { CacheObserver, WatchCache } from '../cache/watch-cache.js';
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';

/** Returns the served resources with stored objects, one version of each. */
export function storesOf(registry: ResourceRegistry): Map<WatchCache, ServedResource> {
  const stores = new Map<WatchCache, ServedResource>();
  for (const served of registry.storedResources()) {
    const { cache } = served.store;
    // Prefers the storage version, whose objects need no conversion.
    if (!stores.has(cache) || served.definition === served.store.definition) stores.set(cache, served);
  }
  return stores;
}

interface Follower {
  /** Returns the observer of a resource; called before the first event. */
  observerOf(served: ServedResource): CacheObserver | undefined;
  /** Called when the resource is no longer served. */
  gone?(served: ServedResource): void;
}

/** Follows all stored resources, and those that are added later. Returns a function that ends it. */
export function followAll(registry: ResourceRegistry, follower: Follower): () => void {
  const followed = new Map<WatchCache, { readonly served: ServedResource; readonly end: () => void }>();
  const update = () => {
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
  update();
  const forget = registry.onChange(update);
  return () => {
    forget();
    for (const { end } of followed.values()) end();
    followed.clear();
  };
}

/** Calls `changed` for each existing object, and for each change. Returns a function that ends it. */
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
