import type { LoopbackClient } from '../../client/loopback-client.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import { isCustom, type ResourceRegistry, type ServedResource } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import { storesOf } from '../follow.js';
import { emptyOne } from '../namespace/contents.js';

/** What has become of the objects of a kind that were asked to go. */
export type Outcome =
  | { readonly type: 'gone' | 'overlaps' }
  | { readonly type: 'left' }
  | { readonly type: 'failed'; readonly message: string };

export interface InstanceParts {
  readonly registry: ResourceRegistry;
  readonly client: LoopbackClient;
  /** Where the definitions are; their objects are in the same store. */
  readonly definitions: ResourceStore;
}

/** Asks all objects of a defined kind to go. */
export async function deleteInstances(
  { registry, client, definitions }: InstanceParts,
  definition: KubeObject,
  signal: AbortSignal,
): Promise<Outcome> {
  const { feed, limits } = definitions.dependencies;
  await feed.consistentRevision({ signal, timeoutMs: limits.freshnessTimeoutMs });
  const name = definition.metadata.name ?? '';
  const served = [...storesOf(registry).values()].find((resource) => definitionOf(resource) === name);
  if (!served) return lookIntoStore(definitions, definition, signal);
  // A kind that the server has itself is served, and not what was defined.
  if (!isCustom(served)) return { type: 'overlaps' };
  // Whoever follows the kind hears when it is loaded.
  if (!served.store.cache.isReady) return { type: 'left' };
  const { objects, failure } = await emptyOne(served, client, '', signal);
  if (failure !== undefined) return { type: 'failed', message: `could not issue all deletes: ${failure}` };
  return { type: objects.length > 0 ? 'left' : 'gone' };
}

/** By which name a resource would be defined. */
export const definitionOf = ({ definition: { group, plural } }: ServedResource): string =>
  qualifiedResource(group, plural);

/** Nobody can delete, or free, the objects of a kind while none of its versions is served. */
async function lookIntoStore(
  { dependencies }: ResourceStore,
  definition: KubeObject,
  signal: AbortSignal,
): Promise<Outcome> {
  const { group, names } = asFields(definition['spec']);
  const prefix = `${dependencies.root}${asText(group)}/${asText(asFields(names)['plural'])}/`;
  const { count } = await dependencies.kv.range(prefix, { limit: 1, signal });
  if (count === 0) return { type: 'gone' };
  return { type: 'failed', message: `could not list instances: there are ${count}, and no version of them is served` };
}
