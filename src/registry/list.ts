import type { Attributes, EncodedObject } from '../cache/encoded-object.js';
import type { Snapshot } from '../cache/watch-cache.js';
import { ApiError } from '../machinery/api-error.js';
import { revisionOption, type ListOptions } from '../machinery/list-options.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import { StorageError } from '../storage/storage-error.js';
import { decodeContinue, encodeContinue } from './continue-token.js';
import { readFresh } from './freshness.js';
import type { ResourceStore } from './resource-store.js';
import { storageToApiError } from './storage-to-api-error.js';

export interface ListQuery {
  readonly namespace: string;
  readonly options: ListOptions;
  /** Whether old states may come from memory; otherwise the store is asked for them. */
  readonly usesSnapshots?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ListResult {
  /** The version that every page of this list shows. */
  readonly revision: Revision;
  readonly items: readonly EncodedObject[];
  readonly continueToken: string | undefined;
  readonly remainingItemCount: number | undefined;
}

/**
 * The list semantics of resourceVersion × resourceVersionMatch × limit × continue. Combinations that make no sense
 * were refused when the options were parsed. Each row ends in one of two reads: the state now, or an exact state.
 */
export async function listObjects(store: ResourceStore, query: ListQuery): Promise<ListResult> {
  const { options, signal } = query;
  const { resourceVersion, resourceVersionMatch } = options;
  // Any version will do: the whole list is in memory, and clients of version 0 expect it in one page.
  const limit = resourceVersion === '0' ? 0 : options.limit;
  const isVersion = resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';

  if (options.continue !== '') {
    const token = decodeContinue(options.continue);
    if (isVersion) throw ApiError.badRequest('specifying resource version is not allowed when using continue');
    if (token.revision === 'latest') {
      await readFresh(store.parts, store.cache, undefined, signal);
      return page(store, query, store.cache.snapshot(), token.start, limit);
    }
    return exactly(store, query, token.revision, token.start, limit);
  }
  if (isVersion && (resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && limit > 0))) {
    await readFresh(store.parts, store.cache, resourceVersion, signal);
    return exactly(store, query, revisionOption(resourceVersion), '', limit);
  }
  await readFresh(store.parts, store.cache, resourceVersion, signal);
  return page(store, query, store.cache.snapshot(), '', limit);
}

/** The state at one revision: from a kept snapshot, or else from the store's history. */
async function exactly(
  store: ResourceStore,
  query: ListQuery,
  revision: Revision,
  after: string,
  limit: number,
): Promise<ListResult> {
  const snapshot = (query.usesSnapshots ?? true) ? store.cache.snapshotAt(revision) : undefined;
  if (snapshot) return page(store, query, { ...withRevision(snapshot, revision) }, after, limit);
  try {
    return await pageFromHistory(store, query, revision, after, limit);
  } catch (error) {
    if (after !== '' && error instanceof StorageError && error.code === 'compacted') {
      throw ApiError.expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
          'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
          'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
          'deleted between the time the first chunk was returned and now may show up in the list.',
        encodeContinue({ revision: 'latest', start: after }),
      );
    }
    throw storageToApiError(error);
  }
}

function withRevision(snapshot: Snapshot, revision: Revision): Snapshot {
  return {
    revision,
    size: snapshot.size,
    get: (key) => snapshot.get(key),
    count: (prefix, from) => snapshot.count(prefix, from),
    range: (prefix, from) => snapshot.range(prefix, from),
  };
}

/** One page (or all) of a snapshot; with `limit` 0 all. */
function page(store: ResourceStore, query: ListQuery, snapshot: Snapshot, after: string, limit: number): ListResult {
  const seen = { count: 0 };
  const result = pageOf(store, query, snapshot, after, limit, seen);
  const { lists } = store.cache.counts;
  lists.count++;
  lists.fetched += seen.count;
  lists.returned += result.items.length;
  return result;
}

function pageOf(
  store: ResourceStore,
  query: ListQuery,
  snapshot: Snapshot,
  after: string,
  limit: number,
  seen: { count: number },
): ListResult {
  const scope = store.scopeOf(query.namespace);
  const matches = matcher(query.options);
  const items: EncodedObject[] = [];
  const exactName = after === '' ? query.options.fields.requiresExact('metadata.name') : undefined;
  if (exactName !== undefined && (query.namespace !== '' || !store.definition.namespaced)) {
    const found = snapshot.get(store.keyOf(query.namespace, exactName));
    seen.count = found ? 1 : 0;
    if (found && !found.corruption && (!matches || matches(found.attributes))) items.push(found);
    return { revision: snapshot.revision, items, continueToken: undefined, remainingItemCount: undefined };
  }

  let last: EncodedObject | undefined;
  for (const entry of snapshot.range(scope, after === '' ? undefined : `${scope}${after}\0`)) {
    if (limit > 0 && items.length === limit) {
      // One more key exists: with a selector it takes a look at the rest to know whether there is another page.
      const rest = `${last!.key}\0`;
      if (!matches) return endOfPage(snapshot.revision, scope, items, last!, snapshot.count(scope, rest));
      if (!matchesAny(snapshot, scope, rest, matches)) break;
      return endOfPage(snapshot.revision, scope, items, last!, undefined);
    }
    if (entry.corruption)
      throw ApiError.internal(`the object stored under ${entry.key} cannot be read: ${entry.corruption.message}`);
    last = entry;
    seen.count++;
    if (!matches || matches(entry.attributes)) items.push(entry);
  }
  return { revision: snapshot.revision, items, continueToken: undefined, remainingItemCount: undefined };
}

function matchesAny(
  snapshot: Snapshot,
  scope: string,
  from: string,
  matches: (attributes: Attributes) => boolean,
): boolean {
  for (const entry of snapshot.range(scope, from)) if (!entry.corruption && matches(entry.attributes)) return true;
  return false;
}

function endOfPage(
  revision: Revision,
  scope: string,
  items: readonly EncodedObject[],
  last: EncodedObject,
  remaining: number | undefined,
): ListResult {
  const continueToken = encodeContinue({ revision, start: last.key.slice(scope.length) });
  return { revision, items, continueToken, remainingItemCount: remaining };
}

async function pageFromHistory(
  store: ResourceStore,
  query: ListQuery,
  revision: Revision,
  after: string,
  limit: number,
): Promise<ListResult> {
  const scope = store.scopeOf(query.namespace);
  const matches = matcher(query.options);
  const items: EncodedObject[] = [];
  const chunk = limit > 0 && !matches ? limit : store.parts.limits.historyPageItems;
  let from = after === '' ? scope : `${scope}${after}\0`;
  const { storeLists } = store.cache.counts;
  storeLists.count++;
  for (;;) {
    const found = await store.parts.kv.range(scope, {
      from,
      limit: chunk,
      revision,
      ...(query.signal && { signal: query.signal }),
    });
    for (const [index, item] of found.items.entries()) {
      const entry = store.codec.decode(item);
      if (entry.corruption)
        throw ApiError.internal(`the object stored under ${entry.key} cannot be read: ${entry.corruption.message}`);
      storeLists.fetched++;
      if (!matches || matches(entry.attributes)) {
        items.push(entry);
        storeLists.returned++;
      }
      const remaining = found.count - index - 1;
      if (limit > 0 && items.length === limit && remaining > 0) {
        return endOfPage(revision, scope, items, entry, matches ? undefined : remaining);
      }
    }
    if (found.items.length >= found.count) break;
    from = `${found.items.at(-1)!.key}\0`;
  }
  return {
    revision: revision === noRevision ? store.parts.feed.position : revision,
    items,
    continueToken: undefined,
    remainingItemCount: undefined,
  };
}

/** All selectors as one question on attributes; undefined when everything matches. */
export function matcher({
  labels,
  fields,
  shard,
}: Pick<ListOptions, 'labels' | 'fields' | 'shard'>): ((attributes: Attributes) => boolean) | undefined {
  if (labels.isEmpty && fields.isEmpty) return shard && ((attributes) => shard.matches(attributes));
  return (attributes) =>
    (labels.isEmpty || labels.matches(attributes.labels)) &&
    (fields.isEmpty || fields.matches((field) => fieldValue(attributes, field))) &&
    (!shard || shard.matches(attributes));
}

function fieldValue(attributes: Attributes, field: string): string {
  if (field === 'metadata.name') return attributes.name;
  if (field === 'metadata.namespace') return attributes.namespace;
  return attributes.fields[field] ?? '';
}
