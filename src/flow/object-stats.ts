import type { RequestInfo } from '../machinery/request-info.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Clock } from '../std/clock.js';
import type { ObjectStats } from './work-estimate.js';

const sampledObjects = 32;
const sampledForMs = 10_000;

/** Returns a function that counts the stored objects of a resource, and estimates their size from a few of them. */
export function objectStats(registry: ResourceRegistry, clock: Clock): (info: RequestInfo) => ObjectStats | undefined {
  const averages = new WeakMap<ResourceStore, { readonly bytes: number; readonly untilMs: number }>();
  const averageOf = (store: ResourceStore): number => {
    const now = clock.monotonicMs();
    const known = averages.get(store);
    if (known && known.untilMs > now) return known.bytes;
    let bytes = 0;
    let count = 0;
    for (const object of store.cache.snapshot().range(store.scopeOf(''))) {
      bytes += object.byteLength;
      if (++count === sampledObjects) break;
    }
    const average = count === 0 ? 0 : Math.round(bytes / count);
    averages.set(store, { bytes: average, untilMs: now + sampledForMs });
    return average;
  };
  return ({ group, version, resource }) => {
    const found = registry.find(group, version, resource);
    if (found?.type !== 'stored') return undefined;
    return { count: found.store.cache.snapshot().size, averageBytes: averageOf(found.store) };
  };
}
