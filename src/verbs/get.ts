import type { EncodedObject } from '../cache/encoded-object.js';
import { ApiError } from '../machinery/api-error.js';
import type { ListOptions } from '../machinery/list-options.js';
import type { ComputeList } from '../registry/apis/api-group.js';
import { viewSubresourceOf } from './view-subresource.js';
import type { Target, VerbAnswer } from './verb.js';

/** Returns a promise only if the read must wait. */
export function getObject(
  target: Target,
  subresource: string,
  resourceVersion: string | undefined,
): VerbAnswer | Promise<VerbAnswer> {
  const { store, computeList } = target.served;
  if (computeList) return getComputed(target, computeList);
  const viewSubresource = viewSubresourceOf(target.served, subresource, 'get');
  const answer = (encoded: EncodedObject): VerbAnswer =>
    viewSubresource?.viewKind
      ? { type: 'computed', code: 200, object: viewSubresource.view(encoded.parse()) }
      : { type: 'stored', code: 200, encoded };
  const found = store.get(target.namespace, target.name, { resourceVersion, caller: target.context });
  return found instanceof Promise ? found.then(answer) : answer(found);
}

async function getComputed({ served, name }: Target, computeList: ComputeList): Promise<VerbAnswer> {
  const object = (await computeList()).find(({ metadata }) => metadata.name === name);
  if (!object) throw ApiError.notFound(served.store.groupResource, name);
  return { type: 'computed', code: 200, object };
}

/** Lists a resource whose objects are computed for each read; undefined if the objects are stored. */
export async function listComputed(
  served: Target['served'],
  { labels, fields }: Pick<ListOptions, 'labels' | 'fields'>,
): Promise<VerbAnswer | undefined> {
  if (!served.computeList) return undefined;
  const all = await served.computeList();
  const objects = all.filter(
    ({ metadata }) =>
      labels.matches(metadata.labels) &&
      fields.matches((field) => (field === 'metadata.name' ? (metadata.name ?? '') : '')),
  );
  return { type: 'computedList', objects };
}
