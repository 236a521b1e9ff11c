import { ApiError } from '../machinery/api-error.js';
import type { ListOptions } from '../machinery/list-options.js';
import { viewSubresourceOf } from './view-subresource.js';
import type { Target, VerbAnswer } from './verb.js';

export async function getObject(
  target: Target,
  subresource: string,
  resourceVersion: string | undefined,
): Promise<VerbAnswer> {
  const { store, computeList } = target.served;
  if (computeList) {
    const object = (await computeList()).find(({ metadata }) => metadata.name === target.name);
    if (!object) throw ApiError.notFound(store.groupResource, target.name);
    return { type: 'computed', code: 200, object };
  }
  const viewSubresource = viewSubresourceOf(target.served, subresource, 'get');
  const encoded = await store.get(target.namespace, target.name, { resourceVersion, caller: target.context });
  if (!viewSubresource?.viewKind) return { type: 'stored', code: 200, encoded };
  return { type: 'computed', code: 200, object: viewSubresource.view(encoded.parse()) };
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
