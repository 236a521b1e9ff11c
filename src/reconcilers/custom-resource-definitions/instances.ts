import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import type { LoopbackClient } from '../../client/loopback-client.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import { isCustom, type ResourceRegistry, type ServedResource } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import { storesOf } from '../follow.js';
import { emptyOne } from '../namespace/contents.js';

/** The outcome of deleting all objects of a kind. */
type Outcome =
  | { readonly type: 'gone' | 'overlaps' }
  | { readonly type: 'left' }
  | { readonly type: 'failed'; readonly message: string };

interface InstanceDependencies {
  readonly registry: ResourceRegistry;
  readonly client: LoopbackClient;
  /** The store of the definitions; custom objects are in the same store. */
  readonly definitions: ResourceStore;
}

/** Deletes all objects of a CustomResourceDefinition. */
export async function deleteInstances(
  { registry, client, definitions }: InstanceDependencies,
  definition: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<Outcome> {
  const { feed, limits } = definitions.dependencies;
  await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
  const name = definition.metadata.name ?? '';
  const served = [...storesOf(registry).values()].find((resource) => definitionOf(resource) === name);
  if (!served) return countInStore(definitions, definition, signal);
  // The server has a built-in kind of this name, which takes precedence over the definition.
  if (!isCustom(served)) return { type: 'overlaps' };
  // Followers of the kind are notified when it is loaded.
  if (!served.store.cache.isReady) return { type: 'left' };
  const { objects, failure } = await emptyOne(served, client, '', signal);
  if (failure !== undefined) return { type: 'failed', message: `could not issue all deletes: ${failure}` };
  return { type: objects.length > 0 ? 'left' : 'gone' };
}

/** Returns the name that a CustomResourceDefinition of this resource has. */
export const definitionOf = ({ definition: { group, plural } }: ServedResource): string =>
  qualifiedResource(group, plural);

/** Counts stored objects of a kind without served versions: they cannot be deleted until a version is served. */
async function countInStore(
  { dependencies }: ResourceStore,
  definition: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<Outcome> {
  const { group = '', names } = definition.spec ?? {};
  const prefix = `${dependencies.root}${group}/${names?.plural ?? ''}/`;
  const { count } = await dependencies.kv.range(prefix, { limit: 1, signal });
  if (count === 0) return { type: 'gone' };
  return { type: 'failed', message: `could not list instances: there are ${count}, and no version of them is served` };
}
