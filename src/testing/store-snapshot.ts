import { noRevision, type Revision } from '../machinery/revision.js';
import type { Compare, KeyValue, KvStore, Write } from '../storage/kv-store.js';

/** The content of a store under `root` at one revision. */
export interface StoreSnapshot {
  readonly root: string;
  readonly items: readonly KeyValue[];
}

/** Writers that change the store during a restore make it start again. */
const attemptsMax = 20;

/** Keeps the values of all keys under `root`. */
export async function takeStoreSnapshot(store: KvStore, root: string): Promise<StoreSnapshot> {
  const { items } = await store.range(root);
  return { root, items };
}

/**
 * Writes what has changed since the snapshot as one revision, so that watchers get one event for each changed object.
 * Returns the revision of the restored store.
 */
export async function restoreStoreSnapshot(store: KvStore, { root, items }: StoreSnapshot): Promise<Revision> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const now = await store.range(root);
    const { compares, writes } = changesBack(items, now.items);
    if (writes.length === 0) return now.revision;
    const { succeeded, revision } = await store.txn(compares, writes);
    // Keys that were added after the read are not compared.
    if (succeeded && revision === now.revision + 1) return revision;
  }
  throw new Error('the snapshot was not restored: other writes did not pause; stop the program under test first');
}

/** Both lists are in the order of keys. An item of the snapshot is unchanged if its mod-revision or its value is. */
function changesBack(wanted: readonly KeyValue[], current: readonly KeyValue[]) {
  const compares: Compare[] = [];
  const writes: Write[] = [];
  const known = new Map(wanted.map((item) => [item.key, item]));
  for (const { key, modRevision, value } of current) {
    const item = known.get(key);
    known.delete(key);
    if (item && (item.modRevision === modRevision || item.value.equals(value))) continue;
    compares.push({ key, modRevision });
    writes.push(item ? { type: 'put', key, value: item.value } : { type: 'delete', key });
  }
  for (const { key, value } of known.values()) {
    compares.push({ key, modRevision: noRevision });
    writes.push({ type: 'put', key, value });
  }
  return { compares, writes };
}
