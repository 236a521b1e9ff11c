import type { EncodedObject } from '../cache/encoded-object.js';
import { ApiError } from '../machinery/api-error.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { ObjectReader, ObjectScan } from './object-reader.js';
import type { Cancellation } from '../std/cancellation.js';

/**
 * Objects of a list that are kept parsed: enough for the LimitRanges or quotas of a namespace, which plug-ins read with
 * every write. All Pods of a large namespace would take too much memory.
 */
const keptOfListMax = 100;

/** Reads stored objects of the registry. Objects that plug-ins read often are parsed once. */
export class RegistryReader implements ObjectReader {
  private readonly parsed = new WeakMap<EncodedObject, KubeObject>();
  private stores = new Map<string, ResourceStore | undefined>();
  private generation = -1;

  constructor(private readonly registry: ResourceRegistry) {}

  cached(resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    const store = this.storeOf(resource);
    const found = store?.cache.get(store.keyOf(namespace, name));
    return found && this.parse(found);
  }

  async live(
    resource: GroupResource,
    namespace: string,
    name: string,
    signal?: Cancellation,
  ): Promise<KubeObject | undefined> {
    try {
      const found = await this.storeOf(resource)?.get(namespace, name, { caller: { signal } });
      return found && this.parse(found);
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }

  list(resource: GroupResource, namespace: string): readonly KubeObject[] {
    const store = this.storeOf(resource);
    if (!store) return [];
    const objects: KubeObject[] = [];
    for (const entry of store.cache.snapshot().range(store.scopeOf(namespace))) {
      if (entry.corruption) continue;
      objects.push(objects.length < keptOfListMax ? this.parse(entry) : (this.parsed.get(entry) ?? entry.parse()));
    }
    return objects;
  }

  scan(resource: GroupResource, namespace: string): ObjectScan {
    const store = this.storeOf(resource);
    if (!store) return { count: 0, objects: [] };
    const scope = store.scopeOf(namespace);
    const snapshot = store.cache.snapshot();
    return { count: snapshot.count(scope), objects: this.parseEach(snapshot.range(scope)) };
  }

  private *parseEach(entries: Iterable<EncodedObject>): Generator<KubeObject, void> {
    for (const entry of entries) if (!entry.corruption) yield this.parsed.get(entry) ?? entry.parse();
  }

  /** All versions of a resource share one store. */
  private storeOf({ group, resource }: GroupResource): ResourceStore | undefined {
    if (this.generation !== this.registry.generation) {
      this.generation = this.registry.generation;
      this.stores = new Map();
    }
    const path = `${group}/${resource}`;
    if (!this.stores.has(path)) {
      const served = this.registry
        .storedResources()
        .find(({ definition }) => definition.group === group && definition.plural === resource);
      this.stores.set(path, served?.store);
    }
    return this.stores.get(path);
  }

  private parse(entry: EncodedObject): KubeObject {
    let object = this.parsed.get(entry);
    if (!object) this.parsed.set(entry, (object = entry.parse()));
    return object;
  }
}
