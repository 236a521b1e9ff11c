import type { AdmissionChain } from '../admission/admission-chain.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import { ApiError } from '../machinery/api-error.js';
import type { DeleteOptions } from '../machinery/delete-options.js';
import { revisionOf } from '../machinery/revision.js';
import { listObjects, type ListQuery } from '../registry/read/list.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Deleted } from '../registry/write/delete.js';
import { forEachConcurrent } from '../std/for-each-concurrent.js';
import { remove } from './delete.js';
import type { Target, VerbAnswer } from './verb.js';

/** Concurrent deletions of one request. */
const deletionsAtOnce = 64;

/** Deletes the listed objects one by one. Objects that are already gone are skipped. */
export async function deleteCollection(
  chain: AdmissionChain,
  target: Target,
  query: ListQuery,
  options: DeleteOptions,
): Promise<VerbAnswer> {
  const { store } = target.served;
  const list = await listObjects(store, query);
  const deleted: EncodedObject[] = [];
  const { clock } = store.dependencies;
  await forEachConcurrent(list.items, { concurrency: deletionsAtOnce, clock }, async (item) => {
    const { name, namespace } = item.attributes;
    try {
      deleted.push(encodedOf(store, item.key, await remove(chain, { ...target, name, namespace }, options)));
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
    }
  });
  deleted.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { type: 'list', revision: list.revision, objects: deleted, continueToken: list.continueToken };
}

/** Returns the last state of a deleted object; one that a dry run would store is encoded for the answer. */
function encodedOf({ codec }: ResourceStore, key: string, { encoded, object }: Deleted): EncodedObject {
  if (encoded) return encoded;
  const revision = revisionOf(Number(object.metadata.resourceVersion));
  return codec.written(object, key, codec.encode(object, key), revision);
}
