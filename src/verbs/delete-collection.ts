import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { DeleteOptions } from '../machinery/list-options.js';
import { listObjects, type ListQuery } from '../registry/read/list.js';
import { toServedVersion } from '../registry/definition/served-version.js';
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
  const list = await listObjects(target.served.store, query);
  const objects: KubeObject[] = [];
  const { clock } = target.served.store.dependencies;
  await forEachConcurrent(list.items, { concurrency: deletionsAtOnce, clock }, async (item) => {
    const { name, namespace } = item.attributes;
    try {
      const deleted = await remove(chain, { ...target, name, namespace }, options);
      objects.push(toServedVersion(target.served.definition, deleted.encoded?.parse() ?? deleted.object));
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
    }
  });
  const pathOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  objects.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  return { type: 'computedList', objects, continueToken: list.continueToken };
}
