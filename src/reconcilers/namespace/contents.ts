import type { EncodedObject } from '../../cache/encoded-object.js';
import type { LoopbackClient } from '../../client/loopback-client.js';
import { ApiError } from '../../machinery/api-error.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import type { ObjectMeta } from '../../machinery/kube-object.js';
import { removeUnreadable } from '../../registry/write/delete-unreadable.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { storesOf } from '../follow.js';
import type { Remains, Survey } from './decide.js';

/** How many deletions are on their way to the store at once: a store that makes them durable together is given many. */
const deletionsAtOnce = 64;

export interface Emptied extends Survey {
  /** The longest time that an object was given to end. */
  readonly graceSecondsMax: number;
}

/**
 * Asks everything in the namespace to go, and tells what has not gone. Pods first, and the rest only when they are
 * gone: what they use to the end (secrets, network policies) is still there for them (KEP-5080).
 */
export async function emptyNamespace(
  registry: ResourceRegistry,
  client: LoopbackClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Emptied> {
  const resources = [...storesOf(registry).values()].filter(
    ({ definition, computeList: made }) => definition.namespaced && !made && definition.verbs.includes('delete'),
  );
  const isPods = ({ definition }: ServedResource) => definition.group === '' && definition.plural === 'pods';
  const pods = await emptyAll(resources.filter(isPods), client, namespace, signal);
  if (pods.remains.length > 0) return pods;
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
    const left = await emptyOne(served, client, namespace, signal);
    if (left.failure !== undefined) emptied.failures.push(`${name}: ${left.failure}`);
    if (left.objects.length > 0) emptied.remains.push(remainsOf(group, plural, left.objects));
    for (const { deletionGracePeriodSeconds: seconds = 0 } of left.objects) {
      emptied.graceSecondsMax = Math.max(emptied.graceSecondsMax, seconds);
    }
  }
  return emptied;
}

/** Asks all objects of a resource to go: those of a namespace, or where it is '' all there are. */
export async function emptyOne(
  served: ServedResource,
  client: LoopbackClient,
  namespace: string,
  signal: AbortSignal,
): Promise<{ objects: Left[]; failure: string | undefined }> {
  const { store } = served;
  const objects: Left[] = [];
  let failure: string | undefined;
  const entries = store.cache.snapshot().range(store.scopeOf(namespace));
  await forEachConcurrent(entries, { concurrency: deletionsAtOnce, clock: store.dependencies.clock }, async (entry) => {
    signal.throwIfAborted();
    if (hasBeenAsked(served, entry)) return void objects.push(leftOf(served, entry));
    try {
      // Nobody can ask what holds it. It must not hold its namespace, or its kind, for ever.
      if (entry.corruption) {
        if (!(await removeUnreadable(store, entry, signal))) objects.push(leftOf(served, entry));
        return;
      }
      const place = { served, namespace: entry.attributes.namespace, name: entry.attributes.name };
      const deleted = await client.delete(place, { propagationPolicy: 'Background' }, signal);
      if (deleted && !deleted.gone) objects.push(deleted.object.metadata);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      objects.push(leftOf(served, entry));
      // That it was changed meanwhile says nothing; the next round sees it.
      if (error.reason !== 'Conflict') failure ??= error.message;
    }
  });
  return { objects, failure };
}

/** An object that has not gone. */
type Left = Pick<ObjectMeta, 'finalizers' | 'deletionGracePeriodSeconds'>;

/** Thousands may be looked at again whenever one of them goes: only kinds that give time to end are read for it. */
function leftOf({ definition }: ServedResource, entry: EncodedObject): Left {
  const takesTime = definition.strategy.deletion?.graceSeconds !== undefined;
  if (takesTime && !entry.corruption) return entry.parse().metadata;
  return { finalizers: [...(entry.attributes.lifetime?.finalizers ?? [])] };
}

/**
 * Asked again, an object lets go of its dependents; one that holds none has nothing to hear twice. What nothing holds
 * is left of a deletion in two steps that a server did not live to finish.
 */
function hasBeenAsked(served: ServedResource, entry: EncodedObject): boolean {
  const { lifetime } = entry.attributes;
  if (!lifetime?.isDeleting) return false;
  if (lifetime.finalizers.length === 0) return (leftOf(served, entry).deletionGracePeriodSeconds ?? 0) > 0;
  return !lifetime.finalizers.some((finalizer) => finalizer === 'orphan' || finalizer === 'foregroundDeletion');
}

function remainsOf(group: string, resource: string, objects: readonly Left[]): Remains {
  const finalizers = new Map<string, number>();
  for (const finalizer of objects.flatMap((object) => object.finalizers ?? [])) {
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { group, resource, count: objects.length, finalizers };
}
