import { noRevision, revisionOf, type Revision } from '../../../machinery/revision.js';
import { silentLogger } from '../../../std/logger.js';
import type { KeyValue } from '../../kv-store.js';
import type { StoreContent, WrittenRevision } from '../store-content.js';
import { EmbeddedFile, type View } from './embedded-file.js';
import { rangeAt, readLog, replay } from './history.js';
import { storageError } from './lmdb-errors.js';
import * as records from './records.js';

/** Calls `use` with the content of a store in a directory that no process uses. Rejects with StorageErrors. */
export async function withContent<T>(directory: string, use: (content: StoreContent) => Promise<T>): Promise<T> {
  const file = EmbeddedFile.openReadOnly(directory, silentLogger);
  try {
    return await use(contentOf(file.view));
  } catch (error) {
    throw storageError(directory, error);
  } finally {
    await file.close();
  }
}

function contentOf(view: View): StoreContent {
  const stored = view.get(records.metaKeys.floor);
  const floor = stored ? records.decodeRevision(stored) : noRevision;
  const bounds = { start: records.logKey(noRevision), end: records.logKey(revisionOf(Number.MAX_SAFE_INTEGER)) };
  const last = view.lastKey(bounds);
  const head = last ? records.revisionOfLogKey(last) : revisionOf(1);
  return { floor, pages: pagesAt(view, floor), revisions: revisionsBetween(view, Math.max(floor, 2), head) };
}

async function* pagesAt(view: View, floor: Revision): AsyncGenerator<readonly KeyValue[]> {
  const all = { prefix: '', from: '' };
  yield (await rangeAt(view, all, revisionOf(Math.max(floor, 1)), Infinity, yieldTick)).items;
}

async function* revisionsBetween(view: View, from: number, head: Revision): AsyncGenerator<WrittenRevision> {
  for (let next = from; next <= head; await yieldTick()) {
    for (const entry of replay(view, revisionOf(next), head)) {
      yield { ...entry, timeMs: readLog(view, entry.revision).timeMs };
      next = entry.revision + 1;
    }
  }
}

const yieldTick = () => new Promise<void>((resolve) => setImmediate(resolve));
