import { revisionOf, type Revision } from '../../machinery/revision.js';
import { systemClock } from '../../std/clock.js';
import type { KeyValue } from '../kv-store.js';
import type { LogEntry } from './watch-hub.js';

/** The state of a store at one revision. */
export interface StoreState {
  readonly revision: Revision;
  /** In pieces, so that they need not be in memory together. */
  readonly pages: AsyncIterable<readonly KeyValue[]>;
}

/** A revision with the time of its write. */
export interface WrittenRevision extends LogEntry {
  readonly timeMs: number;
}

/** The content of a store with its history, for another store that begins with it. Values may share their memory. */
export interface StoreContent {
  /** The first revision whose state is kept; 0 if nothing has been compacted. */
  readonly floor: Revision;
  /** The state at the floor. */
  readonly pages: AsyncIterable<readonly KeyValue[]>;
  /** All revisions from the floor on, except for revision 1, which has no events. Read after the pages. */
  readonly revisions: AsyncIterable<WrittenRevision>;
}

/**
 * Returns the content of a store without history. It begins one revision later, which changes nothing: what was before is not
 * known, so that reads and watches of it are refused as compacted.
 */
export function contentOf({ revision, pages }: StoreState): StoreContent {
  const floor = revisionOf(revision + 1);
  async function* revisions() {
    yield { revision: floor, events: [], timeMs: systemClock.now() };
  }
  return { floor, pages, revisions: revisions() };
}
