import { RemoteCallError } from '../../aggregation/remote-client.js';
import { isUnsupported, nameOf, RemoteRefusal, type RemoteObjects } from '../../aggregation/remote-objects.js';
import type { RemoteMetadata } from '../../aggregation/remote-metadata.js';
import type { RemoteRef } from '../../aggregation/remote-resources.js';
import { WebhookCallError } from '../../webhook-client/webhook-call-error.js';
import type { Remains, Survey } from './decide.js';

type RemoteContents = Pick<Survey, 'failures' | 'remains'>;

export const noContents: RemoteContents = { failures: [], remains: [] };

/**
 * Deletes the objects of a namespace on aggregated servers, and returns those that remain. A server that does not answer is
 * not asked for its other resources.
 */
export async function emptyRemotely(
  resources: readonly RemoteRef[],
  objects: RemoteObjects,
  namespace: string,
  signal: AbortSignal,
): Promise<RemoteContents> {
  const failures: string[] = [];
  const remains: Remains[] = [];
  const silent = new Set<string>();
  for (const ref of resources) {
    const { scope, verbs } = ref.resource;
    if (scope !== 'Namespaced' || !verbs.includes('delete') || silent.has(ref.version.name)) continue;
    try {
      const left = await emptyOne(ref, objects, namespace, signal);
      if (left.length > 0) remains.push(remainsOf(ref, left));
    } catch (error) {
      signal.throwIfAborted();
      const isAnswer = error instanceof RemoteRefusal;
      if (!isAnswer && !(error instanceof RemoteCallError) && !(error instanceof WebhookCallError)) throw error;
      if (!isAnswer) silent.add(ref.version.name);
      failures.push(`${nameOf(ref)}: ${error.message}`);
    }
  }
  return { failures, remains };
}

async function emptyOne(
  ref: RemoteRef,
  objects: RemoteObjects,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly RemoteMetadata[]> {
  const { verbs } = ref.resource;
  const isListed = verbs.includes('list');
  const list = () => ifSupported(objects.list(ref, namespace, signal), []);
  const isCollection =
    verbs.includes('deletecollection') &&
    (await ifSupported(
      objects.deleteCollection(ref, namespace, signal).then(() => true),
      false,
    ));
  if (!isListed) return [];
  if (!isCollection) for (const { name } of await list()) await objects.delete(ref, namespace, name, signal);
  return list();
}

/** Discovery may list resources without any of their verbs. */
async function ifSupported<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isUnsupported(error)) return otherwise;
    throw error;
  }
}

function remainsOf({ version, resource }: RemoteRef, left: readonly RemoteMetadata[]): Remains {
  const finalizers = new Map<string, number>();
  for (const finalizer of left.flatMap((object) => object.finalizers)) {
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { group: version.group, resource: resource.resource, count: left.length, finalizers };
}
