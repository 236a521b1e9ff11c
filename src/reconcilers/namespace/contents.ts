import type { EncodedObject } from '../../cache/encoded-object.js';
import type { LoopbackClient } from '../../client/loopback-client.js';
import { ApiError } from '../../machinery/api-error.js';
import { foregroundFinalizer, orphanFinalizer } from '../../machinery/finalizers.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import type { ObjectMeta } from '../../machinery/kube-object.js';
import { UntransformableError } from '../../storage/value-transforms.js';
import { removeUnreadable } from '../../registry/write/delete-unreadable.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { storesOf } from '../follow.js';
import type { Remains, Survey } from './decide.js';

/** Concurrent deletions: many, since stores commit concurrent writes together. */
const concurrentDeletions = 64;

/** Local resources are always known. */
interface Emptied extends Omit<Survey, 'stale'> {
  /** The longest grace period of a remaining object. */
  readonly graceSecondsMax: number;
}

/**
 * Deletes all objects in the namespace, those of aggregated servers excepted, and returns those that remain. Deletes Pods
 * first and the rest only when no Pod is left, since terminating Pods still use Secrets and NetworkPolicies (KEP-5080).
 */
export async function emptyNamespace(
  registry: ResourceRegistry,
  client: LoopbackClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Emptied & { readonly hasPods: boolean }> {
  const resources = [...storesOf(registry).values()].filter(
    ({ definition, computeList }) => definition.namespaced && !computeList && definition.verbs.includes('delete'),
  );
  const isPods = ({ definition }: ServedResource) => definition.group === '' && definition.plural === 'pods';
  const pods = await emptyAll(resources.filter(isPods), client, namespace, signal);
  if (pods.remains.length > 0) return { ...pods, hasPods: true };
  const others = await emptyAll(
    resources.filter((served) => !isPods(served)),
    client,
    namespace,
    signal,
  );
  return {
    unreadable: [...pods.unreadable, ...others.unreadable],
    failures: [...pods.failures, ...others.failures],
    remains: others.remains,
    graceSecondsMax: others.graceSecondsMax,
    hasPods: false,
  };
}

async function emptyAll(
  resources: readonly ServedResource[],
  client: LoopbackClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Emptied> {
  const emptied = {
    unreadable: [] as string[],
    failures: [] as string[],
    remains: [] as Remains[],
    graceSecondsMax: 0,
  };
  for (const served of resources) {
    const { group, plural } = served.definition;
    const name = qualifiedResource(group, plural);
    if (!served.store.cache.isReady) {
      emptied.unreadable.push(name);
      continue;
    }
    const remaining = await emptyOne(served, client, namespace, signal);
    if (remaining.failure !== undefined) emptied.failures.push(`${name}: ${remaining.failure}`);
    if (remaining.objects.length > 0) emptied.remains.push(remainsOf(group, plural, remaining.objects));
    for (const { deletionGracePeriodSeconds: seconds = 0 } of remaining.objects) {
      emptied.graceSecondsMax = Math.max(emptied.graceSecondsMax, Number(seconds));
    }
  }
  return emptied;
}

/** Deletes all objects of a resource in a namespace, or in all namespaces if it is ''. */
export async function emptyOne(
  served: ServedResource,
  client: LoopbackClient,
  namespace: string,
  signal: AbortSignal,
): Promise<{ objects: Remaining[]; failure: string | undefined }> {
  const { store } = served;
  const objects: Remaining[] = [];
  let failure: string | undefined;
  const entries = store.cache.snapshot().range(store.scopeOf(namespace));
  await forEachConcurrent(
    entries,
    { concurrency: concurrentDeletions, clock: store.dependencies.clock },
    async (entry) => {
      signal.throwIfAborted();
      if (isBeingDeleted(served, entry)) return void objects.push(remainingOf(served, entry));
      try {
        if (entry.corruption instanceof UntransformableError) {
          objects.push(remainingOf(served, entry));
          // The key may be missing only in the configuration of this server.
          failure ??= `${entry.key} cannot be decrypted: ${entry.corruption.message}`;
          return;
        }
        // Its finalizers cannot be read. It must not block its namespace, or its kind, forever.
        if (entry.corruption) {
          if (!(await removeUnreadable(store, entry, signal))) objects.push(remainingOf(served, entry));
          return;
        }
        const ref = { served, namespace: entry.attributes.namespace, name: entry.attributes.name };
        const deleted = await client.delete(ref, { propagationPolicy: 'Background' }, signal);
        if (deleted && !deleted.gone) objects.push(deleted.object.metadata);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        objects.push(remainingOf(served, entry));
        // A conflict is not reported: the next pass deletes the object.
        if (error.reason !== 'Conflict') failure ??= error.message;
      }
    },
  );
  return { objects, failure };
}

/** Metadata of an object that was not deleted (yet). */
type Remaining = Pick<ObjectMeta, 'finalizers' | 'deletionGracePeriodSeconds'>;

/** Parses only objects of kinds with grace periods, since thousands may be checked whenever one of them is deleted. */
function remainingOf({ definition }: ServedResource, entry: EncodedObject): Remaining {
  const takesTime = definition.strategy.deletion?.graceSeconds !== undefined;
  if (takesTime && !entry.corruption) return entry.parse().metadata;
  return { finalizers: [...(entry.attributes.lifetime?.finalizers ?? [])] };
}

/**
 * False for objects that have to be deleted (again): those that wait for dependents, which a background deletion ends, and
 * those without finalizers, whose second step of the deletion is missing because a server was killed.
 */
function isBeingDeleted(served: ServedResource, entry: EncodedObject): boolean {
  const { lifetime } = entry.attributes;
  if (!lifetime?.isDeleting) return false;
  if (lifetime.finalizers.length === 0) return (remainingOf(served, entry).deletionGracePeriodSeconds ?? 0) > 0;
  return !lifetime.finalizers.some((name) => name === orphanFinalizer || name === foregroundFinalizer);
}

function remainsOf(group: string, resource: string, objects: readonly Remaining[]): Remains {
  const finalizers = new Map<string, number>();
  for (const finalizer of objects.flatMap((object) => object.finalizers ?? [])) {
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { group, resource, count: objects.length, finalizers };
}
