import type { Attributes, EncodedObject } from '../../cache/encoded-object.js';
import type { Snapshot } from '../../cache/watch-cache.js';
import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { revisionOption } from '../../machinery/option-parameters.js';
import type { ListOptions } from '../../machinery/list-options.js';
import type { Revision } from '../../machinery/revision.js';
import type { RangeResult } from '../../storage/kv-store.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { StorageError } from '../../storage/storage-error.js';
import { UntransformableError } from '../../storage/value-transforms.js';
import { decodeContinue, encodeContinue } from './continue-token.js';
import type { Caller } from '../../cache/feed.js';
import { readFresh } from './freshness.js';
import { callOptions, type ResourceStore } from '../resource-store.js';
import { storageToApiError } from '../storage-to-api-error.js';

export interface ListQuery {
  readonly namespace: string;
  readonly options: ListOptions;
  /** False reads old revisions from the store instead of the snapshots in memory. Default true. */
  readonly usesSnapshots?: boolean;
  readonly caller?: Caller | undefined;
}

interface ListResult {
  /** The resourceVersion of the list, the same for all its pages. */
  readonly revision: Revision;
  readonly items: readonly EncodedObject[];
  readonly continueToken: string | undefined;
  readonly remainingItemCount: number | undefined;
  /** Objects in the range that cannot be decoded. They are not listed. */
  readonly unreadable: Unreadable;
}

export interface Unreadable {
  count: number;
  /** The key of the first unreadable object. */
  key: string;
  /** Set if an object cannot be decrypted: the first one. */
  undecryptable?: EncodedObject;
}

/**
 * Lists objects by resourceVersion × resourceVersionMatch × limit × continue. Invalid combinations were rejected when
 * the options were parsed. Every other combination reads either the latest state or the state at an exact revision. Fails
 * if an object cannot be decrypted; leaves out those that cannot be decoded.
 */
export async function listObjects(store: ResourceStore, query: ListQuery): Promise<ListResult> {
  const result = await listReadable(store, query);
  const { undecryptable } = result.unreadable;
  // An incomplete list looks like deletions. Version 0 asks for whatever is in memory, and gets a warning.
  if (undecryptable && query.options.resourceVersion !== '0') throw undecryptableError(undecryptable);
  return result;
}

async function listReadable(store: ResourceStore, query: ListQuery): Promise<ListResult> {
  const { options } = query;
  const { resourceVersion, resourceVersionMatch } = options;
  // resourceVersion 0 ignores limit, as in kube-apiserver: the list comes from memory in one page.
  const limit = resourceVersion === '0' ? 0 : options.limit;
  const isVersion = resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';

  if (options.continue !== '') {
    const token = decodeContinue(options.continue);
    if (isVersion) throw ApiError.badRequest('specifying resource version is not allowed when using continue');
    if (token.revision === 'latest') {
      await readFresh(store.dependencies, store.cache, undefined, query.caller);
      return page(store, query, store.cache.snapshot(), token.start, limit);
    }
    return exactly(store, query, token.revision, token.start, limit);
  }
  if (isVersion && (resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && limit > 0))) {
    await readFresh(store.dependencies, store.cache, resourceVersion, query.caller);
    return exactly(store, query, revisionOption(resourceVersion), '', limit);
  }
  await readFresh(store.dependencies, store.cache, resourceVersion, query.caller);
  return page(store, query, store.cache.snapshot(), '', limit);
}

/** Reads the state at one revision: from a snapshot in memory, or else from the history of the store. */
async function exactly(
  store: ResourceStore,
  query: ListQuery,
  revision: Revision,
  after: string,
  limit: number,
): Promise<ListResult> {
  const snapshot = (query.usesSnapshots ?? true) ? store.cache.snapshotAt(revision) : undefined;
  if (snapshot) return page(store, query, withRevision(snapshot, revision), after, limit);
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

/** Returns the key prefix that a query reads. `metadata.namespace=x` over all namespaces reads only namespace x. */
function scopeOf(store: ResourceStore, { namespace, options }: ListQuery): string {
  const selected = store.definition.namespaced ? options.fields.requiresExact('metadata.namespace') : undefined;
  return store.scopeOf(namespace || (selected ?? ''));
}

/** Returns the key of the only object that a query can match; undefined if there may be others. */
function exactKey(store: ResourceStore, { namespace, options }: ListQuery): string | undefined {
  const name = options.fields.requiresExact('metadata.name');
  if (name === undefined || (namespace === '' && store.definition.namespaced)) return undefined;
  return store.keyOf(namespace, name);
}

function withRevision(snapshot: Snapshot, revision: Revision): Snapshot {
  return {
    revision,
    size: snapshot.size,
    get: (key) => snapshot.get(key),
    count: (prefix, from) => snapshot.count(prefix, from),
    range: (prefix, from) => snapshot.range(prefix, from),
    rangeByFields: (equalities, prefix, from) => snapshot.rangeByFields(equalities, prefix, from),
    rangeByLabels: (equalities, prefix, from) => snapshot.rangeByLabels(equalities, prefix, from),
  };
}

/** Maximum time that reading a snapshot holds the event loop before it yields. */
const sliceMs = 2;

/** Returns one page of a snapshot, or all items if `limit` is 0. */
async function page(
  store: ResourceStore,
  query: ListQuery,
  snapshot: Snapshot,
  after: string,
  limit: number,
): Promise<ListResult> {
  const seen = { count: 0 };
  const result = await pageOf(store, query, snapshot, after, limit, seen);
  const { lists } = store.cache.counts;
  lists.count++;
  lists.fetched += seen.count;
  lists.returned += result.items.length;
  return result;
}

async function pageOf(
  store: ResourceStore,
  query: ListQuery,
  snapshot: Snapshot,
  after: string,
  limit: number,
  seen: { count: number },
): Promise<ListResult> {
  const scope = scopeOf(store, query);
  const matches = matcher(query.options);
  const items: EncodedObject[] = [];
  const unreadable = noneUnreadable();
  const oneKey = after === '' ? exactKey(store, query) : undefined;
  if (oneKey !== undefined) {
    const found = snapshot.get(oneKey);
    seen.count = found ? 1 : 0;
    if (found && !found.corruption && (!matches || matches(found.attributes))) items.push(found);
    if (found?.corruption) note(unreadable, found);
    return whole(items, unreadable, snapshot.revision);
  }

  const timer = new LoopYieldTimer(store.dependencies.clock, sliceMs);
  let last: EncodedObject | undefined;
  const { fields, labels } = query.options;
  const range = (from?: string) =>
    snapshot.rangeByFields(fields.equalities, scope, from) ??
    snapshot.rangeByLabels(labels.equalities, scope, from) ??
    snapshot.range(scope, from);
  for (const entry of range(after === '' ? undefined : `${scope}${after}\0`)) {
    if (limit > 0 && items.length === limit) {
      // There is at least one more key. With a selector, another page exists only if a later object matches.
      const rest = `${last!.key}\0`;
      const page = whole(items, unreadable, snapshot.revision);
      if (!matches) return endOfPage(page, scope, last!, snapshot.count(scope, rest));
      if (!(await matchesAny(range(rest), matches, timer))) break;
      return endOfPage(page, scope, last!, undefined);
    }
    last = entry;
    seen.count++;
    // A snapshot does not change while other requests run.
    if (timer.isDue()) await timer.yield();
    if (entry.corruption) {
      note(unreadable, entry);
      continue;
    }
    if (!matches || matches(entry.attributes)) items.push(entry);
  }
  return whole(items, unreadable, snapshot.revision);
}

const noneUnreadable = (): Unreadable => ({ count: 0, key: '' });

function note(unreadable: Unreadable, object: EncodedObject): void {
  if (unreadable.count++ === 0) unreadable.key = object.key;
  if (object.corruption instanceof UntransformableError) unreadable.undecryptable ??= object;
}

/** Returns the error of a list or watch that would leave out an object that cannot be decrypted. */
export function undecryptableError({ key, corruption }: EncodedObject): ApiError {
  return ApiError.internal(`unable to transform key ${goQuote(key)}: ${corruption?.message ?? ''}`, corruption);
}

/** Returns the last page of a list. */
function whole(items: readonly EncodedObject[], unreadable: Unreadable, revision: Revision): ListResult {
  return { items, continueToken: undefined, remainingItemCount: undefined, unreadable, revision };
}

async function matchesAny(
  objects: Iterable<EncodedObject>,
  matches: (attributes: Attributes) => boolean,
  timer: LoopYieldTimer,
): Promise<boolean> {
  for (const entry of objects) {
    if (!entry.corruption && matches(entry.attributes)) return true;
    if (timer.isDue()) await timer.yield();
  }
  return false;
}

function endOfPage(
  page: ListResult,
  scope: string,
  last: { readonly key: string },
  remaining: number | undefined,
): ListResult {
  const continueToken = encodeContinue({ revision: page.revision, start: last.key.slice(scope.length) });
  return { ...page, continueToken, remainingItemCount: remaining };
}

async function pageFromHistory(
  store: ResourceStore,
  query: ListQuery,
  revision: Revision,
  after: string,
  limit: number,
): Promise<ListResult> {
  const scope = scopeOf(store, query);
  const matches = matcher(query.options);
  const items: EncodedObject[] = [];
  const unreadable = noneUnreadable();
  const chunk = limit > 0 && !matches ? limit : store.dependencies.limits.historyPageItems;
  let from = after === '' ? scope : `${scope}${after}\0`;
  const { storeLists } = store.cache.counts;
  storeLists.count++;
  const oneKey = after === '' ? exactKey(store, query) : undefined;
  for (;;) {
    const found =
      oneKey === undefined
        ? await readPage(store, query.caller, { scope, from, limit: chunk, revision })
        : await readOne(store, query.caller, oneKey, revision);
    for (const [index, item] of found.items.entries()) {
      const entry = store.codec.decode(item);
      storeLists.fetched++;
      if (entry.corruption) note(unreadable, entry);
      else if (!matches || matches(entry.attributes)) {
        items.push(entry);
        storeLists.returned++;
      }
      const remaining = found.count - index - 1;
      if (limit > 0 && items.length === limit && remaining > 0) {
        return endOfPage(whole(items, unreadable, revision), scope, entry, matches ? undefined : remaining);
      }
    }
    if (found.items.length >= found.count) break;
    from = `${found.items.at(-1)!.key}\0`;
  }
  return whole(items, unreadable, revision);
}

async function readOne(
  store: ResourceStore,
  caller: ListQuery['caller'],
  key: string,
  atRevision: Revision,
): Promise<RangeResult> {
  const { item, revision } = await store.dependencies.kv.get(key, { revision: atRevision, ...callOptions(caller) });
  return { items: item ? [item] : [], count: item ? 1 : 0, revision };
}

async function readPage(
  store: ResourceStore,
  caller: ListQuery['caller'],
  { scope, from, limit, revision }: { scope: string; from: string; limit: number; revision: Revision },
): Promise<RangeResult> {
  const span = caller?.steps?.trace?.beginPart('Store', store.callAttributes('range', scope, limit));
  try {
    const page = await store.dependencies.kv.range(scope, { from, limit, revision, ...callOptions(caller) });
    span?.event('Keys read', { keys: page.items.length });
    span?.end();
    return page;
  } catch (error) {
    span?.end(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Combines label selector, field selector and shard selector into one predicate; undefined if everything matches. */
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
