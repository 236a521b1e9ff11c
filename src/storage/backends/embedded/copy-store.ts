import { silentLogger } from '../../../std/logger.js';
import { noRevision, type Revision } from '../../../machinery/revision.js';
import type { Compare, Write } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { EmbeddedFile } from './embedded-file.js';
import { EmbeddedStore } from './embedded-store.js';

/** Copies the store in a directory, which another process may be using (EmbeddedFile.copyTo). The target must not exist. */
export async function copyStore(source: string, target: string): Promise<'cloned' | 'copied'> {
  const file = EmbeddedFile.openToCopy(source, silentLogger);
  try {
    return await file.copyTo(target);
  } finally {
    await file.close();
  }
}

/** Writes the state at a revision as the latest one of a store that no process uses. */
export async function revertStore(directory: string, revision: Revision): Promise<void> {
  const store = await EmbeddedStore.open({ directory, historyMs: 0, logger: silentLogger });
  try {
    const [then, now] = [await store.range('', { revision }), await store.range('')];
    const compares: Compare[] = [];
    const writes: Write[] = [];
    const left = new Map(now.items.map((item) => [item.key, item.modRevision]));
    for (const { key, value, modRevision, summary } of then.items) {
      const current = left.get(key);
      left.delete(key);
      if (current === modRevision) continue;
      compares.push({ key, modRevision: current ?? noRevision });
      writes.push({ type: 'put', key, value, summarize: () => summary });
    }
    for (const [key, modRevision] of left) {
      compares.push({ key, modRevision });
      writes.push({ type: 'delete', key });
    }
    if (writes.length === 0) return;
    const { succeeded } = await store.txn(compares, writes);
    if (!succeeded) throw new StorageError('locked', `${directory} is being changed by another program`);
  } finally {
    await store.close();
  }
}
