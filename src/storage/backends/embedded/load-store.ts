import { revisionOf } from '../../../machinery/revision.js';
import { systemClock } from '../../../std/clock.js';
import { silentLogger } from '../../../std/logger.js';
import type { KeyValue } from '../../kv-store.js';
import type { StoreState } from '../store-content.js';
import { EmbeddedFile, type Change } from './embedded-file.js';
import * as records from './records.js';

/**
 * Writes the state of another store into a new directory, with its revisions. The new store begins one revision later, which
 * changes nothing: what was before is not known, so that reads and watches of it are refused as compacted.
 */
export async function loadStore(directory: string, { revision, pages }: StoreState): Promise<void> {
  const file = EmbeddedFile.open(directory, silentLogger);
  try {
    for await (const items of pages) {
      await file.commit(items.flatMap(changesOf));
    }
    const next = revisionOf(revision + 1);
    await file.commit([
      { key: records.logKey(next), value: records.encodeLog({ timeMs: systemClock.now(), operations: [] }) },
      { key: records.metaKeys.floor, value: records.encodeRevision(next) },
    ]);
  } finally {
    await file.close();
  }
}

function changesOf(item: KeyValue): Change[] {
  const { state, value } = records.encodeState(item);
  const change = { key: records.stateKey(item.key), value: state };
  return value ? [change, { key: records.valueKey(item.key), value }] : [change];
}
