import type { Revision } from '../../../machinery/revision.js';
import type { DeferredValue, KeyValue, StoreEvent } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { deleteEvent, putEvent } from '../../store-event.js';
import { compareUtf8 } from '../../../std/compare-utf8.js';
import type { LogEntry } from '../watch-hub.js';
import type { View } from './embedded-file.js';
import * as records from './records.js';

/**
 * Reads past states from the records that later revisions replaced. The state of a key at revision R is
 *
 *   the first record of its history that was replaced after R:   h key (R+1 …)   → that state, or absent
 *   or, if it has not changed since:                             d key           → the latest state, or absent
 *
 * The event of revision R for a key is the state at R; its previous state is the record that R replaced.
 */
export function stateAt(view: View, key: string, revision: Revision): KeyValue | undefined {
  const replaced = view.first(records.historyBoundsOfKey(key, (revision + 1) as Revision));
  if (!replaced) return latestState(view, key);
  return replacedState(key, replaced.value);
}

export function latestState(view: View, key: string): KeyValue | undefined {
  const bytes = view.get(records.stateKey(key));
  return bytes && records.decodeState(key, bytes, valueRecord(view, key));
}

const valueRecord = (view: View, key: string) => (): Buffer | undefined => view.get(records.valueKey(key));

/** Returns the state in a record of the history, which has the value: undefined if the key was absent. */
function replacedState(key: string, record: Buffer): KeyValue | undefined {
  return record.length > 0 ? records.decodeState(key, record, () => undefined) : undefined;
}

/** Reads the value of a key at the revision that wrote it. Throws if it is no longer kept. */
export function valueAt(view: View, key: string, revision: Revision): Buffer {
  const latest = latestState(view, key);
  if (latest?.modRevision === revision) return latest.value;
  const replaced = stateAt(view, key, revision);
  if (replaced?.modRevision === revision) return replaced.value;
  throw new StorageError('compacted', `the state of ${key} at revision ${revision} is no longer kept`);
}

interface Slice {
  readonly prefix: string;
  /** Must not be below the prefix. */
  readonly from: string;
}

/** Records, or keys, that are read before yielding to the event loop: 1 to 3 ms. */
const recordsPerTick = 500;
const keysPerTick = 5_000;

interface RangeNowOptions {
  readonly limit: number;
  readonly yieldTick: () => Promise<void>;
  /** The number of keys, if it is known. */
  readonly count: number | undefined;
  /** False to look only for a key beyond the limit. */
  readonly countsAll: boolean;
  /** Reads values that are apart later; undefined to read them at once. */
  readonly readLater: DeferredValue['read'] | undefined;
}

/** Returns the current range. Reads no value beyond the limit. */
export async function rangeNow(view: View, slice: Slice, options: RangeNowOptions): Promise<Range> {
  const { limit, yieldTick, count, countsAll, readLater } = options;
  const bounds = records.stateBounds(slice.prefix, slice.from);
  const items: KeyValue[] = [];
  if (limit > 0) {
    for (const { key, value } of view.scan(bounds)) {
      const text = records.keyOfStateKey(key);
      items.push(
        readLater
          ? records.decodeDeferred(text, value, readLater)
          : records.decodeState(text, value, valueRecord(view, text)),
      );
      if (items.length >= limit) break;
      if (items.length % recordsPerTick === 0) await yieldTick();
    }
  }
  if (items.length < limit) return { items, count: items.length };
  if (count !== undefined) return { items, count };
  const last = items.at(-1);
  if (countsAll || !last) return { items, count: await countKeys(view, bounds, yieldTick) };
  const beyond = { ...bounds, start: records.stateKey(`${last.key}\0`) };
  return { items, count: items.length + (view.keyAfter(beyond, 0) ? 1 : 0) };
}

/** Skipping a key takes about 0.3 µs. */
async function countKeys(view: View, bounds: records.Bounds, yieldTick: () => Promise<void>): Promise<number> {
  let count = 0;
  for (let { start } = bounds; ; count += keysPerTick) {
    const next = view.keyAfter({ ...bounds, start }, keysPerTick);
    if (!next) return count + view.count({ ...bounds, start });
    start = next;
    await yieldTick();
  }
}

interface Range {
  readonly items: readonly KeyValue[];
  readonly count: number;
}

/**
 * Returns the range at a revision: the current keys, with changed ones in their state before their first change after
 * the revision.
 */
export async function rangeAt(
  view: View,
  slice: Slice,
  revision: Revision,
  limit: number,
  yieldTick: () => Promise<void>,
): Promise<Range> {
  const changed = await changedSince(view, slice, revision, yieldTick);
  const items: KeyValue[] = [];
  for (const key of mergeOrdered(latestKeys(view, slice), changed.keys())) {
    if (items.length >= limit) break;
    const historyKey = changed.get(key);
    if (historyKey === null) continue;
    const bytes = view.get(historyKey ?? records.stateKey(key));
    if (!bytes) throw records.corruptKey(key, 'its record is missing');
    items.push(records.decodeState(key, bytes, historyKey ? () => undefined : valueRecord(view, key)));
    if (items.length % recordsPerTick === 0) await yieldTick();
  }
  let count = await countKeys(view, records.stateBounds(slice.prefix, slice.from), yieldTick);
  let steps = 0;
  for (const [key, historyKey] of changed) {
    if (++steps % recordsPerTick === 0) await yieldTick();
    count += Number(historyKey !== null) - Number(view.has(records.stateKey(key)));
  }
  return { items, count };
}

/**
 * Returns the keys changed since the revision, in order, each with the record of its state at the revision, or null if
 * it was absent.
 */
async function changedSince(
  view: View,
  { prefix, from }: Slice,
  revision: Revision,
  yieldTick: () => Promise<void>,
): Promise<Map<string, Buffer | null>> {
  const changed = new Map<string, Buffer | null>();
  const bounds = records.historyBounds(prefix, from);
  let steps = 0;
  for (let start: Buffer | undefined = bounds.start; start;) {
    let skipped = 0;
    let next: Buffer | undefined;
    for (const { key: historyKey, value } of view.scan({ ...bounds, start })) {
      if (++steps % recordsPerTick === 0) await yieldTick();
      const replaced = records.decodeHistoryKey(historyKey);
      if (replaced.revision > revision && !changed.has(replaced.key)) {
        changed.set(replaced.key, value.length > 0 ? historyKey : null);
        skipped = 0;
      } else if (++skipped === skippedRecordsMax) {
        const ofKey = records.historyBoundsOfKey(replaced.key, (revision + 1) as Revision);
        next = changed.has(replaced.key) ? ofKey.end : ofKey.start;
        break;
      }
    }
    start = next;
  }
  return changed;
}

/** Records that are skipped one by one; a search in the tree takes as long as 10 to 20 of them. */
const skippedRecordsMax = 20;

function* latestKeys(view: View, { prefix, from }: Slice): Generator<string, void, void> {
  for (const key of view.keys(records.stateBounds(prefix, from))) yield records.keyOfStateKey(key);
}

/** Merges two ordered lists of keys without duplicates. */
function* mergeOrdered(left: Iterator<string>, right: Iterator<string>): Generator<string, void, void> {
  let a = left.next();
  let b = right.next();
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compareUtf8(a.value, b.value);
    yield order <= 0 ? (a.value as string) : (b.value as string);
    if (order <= 0) a = left.next();
    if (order >= 0) b = right.next();
  }
}

const replayRevisionsMax = 200;
const replayBytesMax = 1024 * 1024;

/** Returns at least one revision of the log from `from` to `to`, and few enough for one tick. */
export function replay(view: View, from: Revision, to: Revision): LogEntry[] {
  const entries: LogEntry[] = [];
  let bytes = 0;
  const end = Math.min(to, from + replayRevisionsMax - 1);
  for (let revision = from; revision <= end && bytes < replayBytesMax; revision = (revision + 1) as Revision) {
    const events = eventsOf(view, revision);
    for (const event of events) {
      bytes += (event.item?.value.length ?? 0) + (event.previous?.value.length ?? 0);
    }
    entries.push({ revision, events });
  }
  return entries;
}

function eventsOf(view: View, revision: Revision): StoreEvent[] {
  // Revision 1 is the empty store and has no events.
  if (revision <= 1) return [];
  return readLog(view, revision).operations.map(({ type, key }) => {
    const replaced = view.get(records.historyKey(key, revision));
    if (!replaced) throw records.corruptKey(key, `what revision ${revision} replaced is missing`);
    const previous = replacedState(key, replaced);
    if (type === 'delete') return deleteEvent(key, revision, previous);
    const item = stateAt(view, key, revision);
    if (item?.modRevision !== revision) throw records.corruptKey(key, `what revision ${revision} wrote is missing`);
    return putEvent(item, previous);
  });
}

export function readLog(view: View, revision: Revision): records.LogRecord {
  const bytes = view.get(records.logKey(revision));
  if (bytes) return records.decodeLog(revision, bytes);
  throw records.corruptLog(revision, 'it is missing');
}
