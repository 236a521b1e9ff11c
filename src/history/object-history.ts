import { stringifyJson } from '../codec/json.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient, KubeList } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';
import { fieldChanges, type FieldChange } from './field-changes.js';
import { selectorOf } from './object-paths.js';
import { isExpired, oldestRevision } from './oldest-revision.js';

/** An object by its path and name. */
interface HistoryTarget {
  /** `/api/v1/namespaces/default/configmaps` */
  readonly collection: string;
  readonly name: string;
}

export interface Writer {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string;
  readonly subresource: string;
}

/** A write of an object, or the state that it had when the retained history begins. */
export interface ObjectRevision {
  readonly resourceVersion: string;
  readonly change: 'existed' | 'created' | 'changed' | 'deleted';
  /** To the second, from managedFields; empty if the object does not tell it. */
  readonly time: string;
  readonly writers: readonly Writer[];
  readonly fields: readonly FieldChange[];
}

interface ObjectHistory {
  /** The oldest resourceVersion that the server can read. */
  readonly since: string;
  readonly revisions: readonly ObjectRevision[];
}

/** A state of an object; without one it was deleted at the resourceVersion. */
interface PastState {
  readonly resourceVersion: string;
  readonly object: Fields | undefined;
}

/** The server sends a bookmark at the end of a watch of this length, which tells that no event is missing. */
const watchSeconds = 3;
/** Watches without an event that end without a bookmark. */
const silentWatchesMax = 3;

/** Reads the retained revisions of an object, the oldest first. Empty if it did not exist at any of them. */
export async function readHistory(client: KubeconfigClient, target: HistoryTarget): Promise<ObjectHistory> {
  const query = { fieldSelector: selectorOf(target.name) };
  const now = await client.list<Fields>(target.collection, { query });
  const head = asText(now.metadata.resourceVersion);
  const since = await oldestRevision(client, target, head);
  const oldest = await stateAt(client, target, since);
  const states = oldest ? [oldest] : [];
  for (const state of await statesAfter(client, target, { since, head, now: now.items[0] })) states.push(state);
  return {
    since,
    revisions: states.map((state, index) => revisionOf(state, states[index - 1], index === 0 && oldest)),
  };
}

/** Returns the state of an object at a resourceVersion; undefined if it did not exist. Rejects with 410 if it is too old. */
async function stateAt(
  client: KubeconfigClient,
  { collection, name }: HistoryTarget,
  resourceVersion: string,
): Promise<PastState | undefined> {
  const query = { fieldSelector: selectorOf(name), resourceVersion, resourceVersionMatch: 'Exact' };
  const list: KubeList<Fields> = await client.list<Fields>(collection, { query });
  const object = list.items[0];
  return object && { resourceVersion: versionOf(object), object: { apiVersion: list.apiVersion, ...object } };
}

interface Range {
  readonly since: string;
  readonly head: string;
  /** The object at `head`. */
  readonly now: Fields | undefined;
}

async function statesAfter(client: KubeconfigClient, target: HistoryTarget, range: Range): Promise<PastState[]> {
  const { since, now } = range;
  if (now && BigInt(versionOf(now)) <= BigInt(since)) return [];
  try {
    return await watchedStates(client, target, range);
  } catch (error) {
    // The events that a server keeps for watches may not reach as far back as the states that it can read.
    if (!isExpired(error) || !now) throw error;
    return statesBefore(client, target, since, now);
  }
}

/** Reads the events of a watch from `since` up to `head`. */
async function watchedStates(client: KubeconfigClient, target: HistoryTarget, range: Range): Promise<PastState[]> {
  const { since, head, now } = range;
  const states: PastState[] = [];
  let reached = since;
  let silentWatches = 0;
  while (silentWatches < silentWatchesMax) {
    const seen = reached;
    const query = {
      fieldSelector: selectorOf(target.name),
      resourceVersion: reached,
      allowWatchBookmarks: true,
      timeoutSeconds: watchSeconds,
    };
    for await (const { type, object } of client.watch<Fields>(target.collection, { query })) {
      reached = versionOf(object);
      if (type === 'BOOKMARK' ? BigInt(reached) >= BigInt(head) : BigInt(reached) > BigInt(head)) return states;
      if (type === 'BOOKMARK') continue;
      states.push({ resourceVersion: reached, object: type === 'DELETED' ? undefined : object });
      if (now && type !== 'DELETED' && reached === versionOf(now)) return states;
    }
    silentWatches = reached === seen ? silentWatches + 1 : 0;
  }
  return states;
}

/** Reads the state before each state after `since`, from the latest one back to the creation. */
async function statesBefore(
  client: KubeconfigClient,
  target: HistoryTarget,
  since: string,
  now: Fields,
): Promise<PastState[]> {
  const states: PastState[] = [];
  let state: PastState | undefined = { resourceVersion: versionOf(now), object: now };
  while (state && BigInt(state.resourceVersion) > BigInt(since)) {
    states.push(state);
    state = await stateAt(client, target, String(BigInt(state.resourceVersion) - 1n));
  }
  return states.reverse();
}

function revisionOf(
  { resourceVersion, object }: PastState,
  previous: PastState | undefined,
  isOldest: unknown,
): ObjectRevision {
  const before = previous?.object;
  if (!object) return { resourceVersion, change: 'deleted', time: '', writers: [], fields: [] };
  const entries = writtenEntries(before, object);
  const times = entries.map(({ time }) => asText(time)).sort();
  const created = asText(asFields(object['metadata'])['creationTimestamp']);
  return {
    resourceVersion,
    change: isOldest ? 'existed' : before ? 'changed' : 'created',
    time: times.at(-1) ?? (before ? '' : created),
    writers: entries.map(({ manager, operation, subresource }) => ({
      manager: asText(manager),
      operation: asText(operation),
      subresource: asText(subresource),
    })),
    fields: before ? fieldChanges(comparable(before), comparable(object)) : [],
  };
}

/**
 * The entries of managedFields that a write has added or given another time; those of the latest time without a state
 * before. A manager that writes the same fields twice in a second leaves no trace: then the latest entry, if it is alone.
 */
function writtenEntries(before: Fields | undefined, after: Fields): Fields[] {
  const times = new Map(entriesOf(before).map((entry) => [keyOf(entry), entry['time']]));
  const entries = entriesOf(after);
  const written = entries.filter((entry) => !times.has(keyOf(entry)) || times.get(keyOf(entry)) !== entry['time']);
  if (before && written.length > 0) return written;
  const latest = entries.map(({ time }) => asText(time)).reduce((one, other) => (one > other ? one : other), '');
  const candidates = entries.filter(({ time }) => time === latest);
  return !before || candidates.length === 1 ? candidates : [];
}

const keyOf = ({ manager, operation, subresource, apiVersion }: Fields): string =>
  stringifyJson([manager, operation, subresource, apiVersion]);

const entriesOf = (object: Fields | undefined) => asItems(asFields(object?.['metadata'])['managedFields']);

function comparable(object: Fields): Fields {
  const { apiVersion: _apiVersion, kind: _kind, ...content } = object;
  const { resourceVersion: _version, managedFields: _managedFields, ...metadata } = asFields(object['metadata']);
  return { ...content, metadata };
}

/** Returns the resourceVersion of an object, which must be a number. */
function versionOf(object: Fields): string {
  const version = asText(asFields(object['metadata'])['resourceVersion']);
  if (/^\d+$/.test(version)) return version;
  throw new ClientError('Status', `the server uses resourceVersions that are no numbers: ${stringifyJson(version)}`);
}
