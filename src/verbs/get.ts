import { ApiError } from '../machinery/api-error.js';
import type { ListOptions } from '../machinery/list-options.js';
import { viewSubresourceOf } from './view-subresource.js';
import type { Target, VerbAnswer } from './verb.js';

export async function getObject(
  target: Target,
  subresource: string,
  resourceVersion: string | undefined,
): Promise<VerbAnswer> {
  const { store, computeList: made } = target.served;
  if (made) {
    const object = (await made()).find(({ metadata }) => metadata.name === target.name);
    if (!object) throw ApiError.notFound(store.groupResource, target.name);
    return { type: 'made', code: 200, object };
  }
  const lens = subresource === '' ? undefined : viewSubresourceOf(target.served, subresource, 'get');
  const encoded = await store.get(target.namespace, target.name, { resourceVersion });
  if (!lens?.viewKind) return { type: 'stored', code: 200, encoded };
  return { type: 'made', code: 200, object: lens.view(encoded.parse()) };
}

/** All of a resource whose objects are made for each read, undefined where they are stored. */
export async function listMade(
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
  return { type: 'madeList', objects, continueToken: undefined };
}
