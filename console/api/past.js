import { pathOf } from './discovery.js';
import { asMetadataList } from './informer.js';

const pageSize = 500;
const pagesMax = 40;

/** Lists the metadata of a collection at a revision, or now: Map of uid to object; `isCut` is true at the bound. */
export async function listAt(connection, { kind, namespace }, revision, signal) {
  const path = pathOf(kind, namespace);
  const objects = new Map();
  let token = '';
  for (let page = 0; page < pagesMax; page++) {
    const query = new URLSearchParams({ limit: String(pageSize) });
    if (token !== '') query.set('continue', token);
    else if (revision !== undefined) {
      query.set('resourceVersion', String(revision));
      query.set('resourceVersionMatch', 'Exact');
    }
    const list = await connection.json(`${path}?${query}`, { accept: asMetadataList, signal });
    for (const { metadata = {} } of list.items ?? []) {
      const { uid, name, namespace, resourceVersion } = metadata;
      objects.set(uid, { metadata: { uid, name, namespace, resourceVersion } });
    }
    token = list.metadata?.continue ?? '';
    if (token === '') return { objects, revision: Number(list.metadata?.resourceVersion), isCut: false };
  }
  return { objects, revision: Number(revision), isCut: true };
}

/** A field selector of one object. Names of RBAC objects may have the characters that separate selectors. */
const selectorOf = (name) => `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;

/** Returns one object as it was at a revision, or is now; undefined if it did not exist. */
export async function objectAt(connection, kind, { namespace = '', name }, revision, signal) {
  const query = new URLSearchParams({ fieldSelector: selectorOf(name) });
  if (revision !== undefined) {
    query.set('resourceVersion', String(revision));
    query.set('resourceVersionMatch', 'Exact');
  }
  const { items = [] } = await connection.json(`${pathOf(kind, namespace)}?${query}`, { signal });
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return items[0] && { apiVersion, kind: kind.kind, ...items[0] };
}

/** Returns the newest revision, by the shortest list. */
export async function newestRevision(connection, { kind, namespace }, signal) {
  const { metadata } = await connection.json(`${pathOf(kind, namespace)}?limit=1`, { accept: asMetadataList, signal });
  return Number(metadata?.resourceVersion) || 0;
}

/** Returns the oldest revision of which the server can still list the collection, by bisection. */
export async function oldestRevision(connection, { kind, namespace }, newest, signal) {
  const path = pathOf(kind, namespace);
  const isRetained = async (revision) => {
    const query = new URLSearchParams({ limit: '1', resourceVersion: String(revision), resourceVersionMatch: 'Exact' });
    const url = `${path}?${query}`;
    const response = await connection.send(url, { signal });
    const text = await response.text();
    if (!response.ok && response.status !== 410) throw connection.failure(response, text, url);
    return response.ok;
  };
  let low = 1;
  let high = newest;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isRetained(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
