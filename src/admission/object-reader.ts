import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';

/** How plug-ins see other objects. What it returns is shared with others who read it: nobody may change it. */
export interface ObjectReader {
  /** From the cache, without waiting. */
  cached(of: GroupResource, namespace: string, name: string): KubeObject | undefined;
  /** As the store has it when it is asked. Undefined when there is none, or when nobody serves the kind. */
  live(of: GroupResource, namespace: string, name: string, signal?: AbortSignal): Promise<KubeObject | undefined>;
  /** Those of one namespace, or of all with '', from the cache, by name. */
  list(of: GroupResource, namespace: string): readonly KubeObject[];
}

/** The cache first; what it does not know may only be too young for it. */
export async function find(
  objects: ObjectReader,
  of: GroupResource,
  namespace: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<KubeObject | undefined> {
  return objects.cached(of, namespace, name) ?? (await objects.live(of, namespace, name, signal));
}
