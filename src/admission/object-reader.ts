import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Cancellation } from '../std/cancellation.js';

/** Reads stored objects for plug-ins. The results are shared with other readers and must not be changed. */
export interface ObjectReader {
  /** Reads the cache without waiting. */
  cached(resource: GroupResource, namespace: string, name: string): KubeObject | undefined;
  /** Reads the store. Undefined if there is no such object, or if the resource is not served. */
  live(
    resource: GroupResource,
    namespace: string,
    name: string,
    signal?: Cancellation,
  ): Promise<KubeObject | undefined>;
  /** Lists the cached objects of a namespace, or of all namespaces if it is '', ordered by name. */
  list(resource: GroupResource, namespace: string): readonly KubeObject[];
  /** As list(), for resources with many objects: each is parsed when the caller reaches it. */
  scan(resource: GroupResource, namespace: string): ObjectScan;
}

export interface ObjectScan {
  /** The number of all objects, which may be more than the caller reads. */
  readonly count: number;
  readonly objects: Iterable<KubeObject>;
}

/** Reads the cache, and the store if the cache has no such object: a new one may not have reached the cache yet. */
export async function find(
  objects: ObjectReader,
  resource: GroupResource,
  namespace: string,
  name: string,
  signal: Cancellation | undefined,
): Promise<KubeObject | undefined> {
  return objects.cached(resource, namespace, name) ?? (await objects.live(resource, namespace, name, signal));
}
