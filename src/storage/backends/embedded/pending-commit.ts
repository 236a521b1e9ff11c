import type { Revision } from '../../../machinery/revision.js';
import type { Compare, DeferredValue, KeyValue, StoreEvent, TxnResult, Write } from '../../kv-store.js';
import { deleteEvent, putEvent } from '../../store-event.js';
import { StorageError } from '../../storage-error.js';
import type { LogEntry } from '../watch-hub.js';
import type { Change, View } from './embedded-file.js';
import * as records from './records.js';

/**
 * A commit under construction, and the state that the store will have after it. Transactions are evaluated in order, so
 * that each sees those before it and gets its own revision.
 */
export class PendingCommit {
  readonly entries: LogEntry[] = [];
  private readonly states = new Map<string, Stored | undefined>();

  head: Revision;
  private readonly view: View;
  private readonly timeMs: number;
  private readonly reread: DeferredValue['read'];

  constructor({ view, head, timeMs, reread }: PendingCommitOptions) {
    this.view = view;
    this.head = head;
    this.timeMs = timeMs;
    this.reread = reread;
  }

  apply(compares: readonly Compare[], writes: readonly Write[], changes: Change[]): TxnResult {
    const current = compares.map(({ key }) => this.stored(key)?.item);
    if (compares.some(({ modRevision }, i) => (current[i]?.modRevision ?? 0) !== modRevision)) {
      return { succeeded: false, revision: this.head, current };
    }
    const revision = (this.head + 1) as Revision;
    const events = writes.flatMap((write) => this.eventOf(write, revision) ?? []);
    if (events.length > 0) this.append(revision, events, changes);
    return { succeeded: true, revision: this.head };
  }

  private eventOf(write: Write, revision: Revision): StoreEvent | undefined {
    const { type, key } = write;
    const previous = this.stored(key)?.item;
    if (type === 'delete') return previous && deleteEvent(key, revision, previous);
    const { buffer, byteOffset, byteLength } = write.value;
    const value = Buffer.from(buffer, byteOffset, byteLength);
    const createRevision = previous?.createRevision ?? revision;
    const summary = write.summarize?.();
    const { reread } = this;
    return putEvent(
      { key, value, createRevision, modRevision: revision, reread, ...(summary && { summary }) },
      previous,
    );
  }

  private append(revision: Revision, events: readonly StoreEvent[], changes: Change[]): void {
    const operations = events.map(({ type, key }) => ({ type, key }));
    const log = records.encodeLog({ timeMs: this.timeMs, operations });
    const added: Change[] = [{ key: records.logKey(revision), value: log }];
    const states = new Map<string, Stored | undefined>();
    for (const { key, item } of events) {
      const historyKey = records.historyKey(key, revision);
      if (historyKey.length > records.lmdbKeyBytesMax) throw new StorageError('tooLarge', `a key is too long: ${key}`);
      const replaced = this.stored(key)?.records;
      const state = item && { item, records: records.encodeState(item) };
      added.push({ key: historyKey, value: replaced ? records.encodeReplaced(replaced) : absent });
      added.push({ key: records.stateKey(key), value: state?.records.state });
      const value = state?.records.value;
      if (value || replaced?.value) added.push({ key: records.valueKey(key), value });
      states.set(key, state);
    }
    changes.push(...added);
    this.entries.push({ revision, events });
    for (const [key, state] of states) this.states.set(key, state);
    this.head = revision;
  }

  private stored(key: string): Stored | undefined {
    if (this.states.has(key)) return this.states.get(key);
    const stored = this.read(key);
    this.states.set(key, stored);
    return stored;
  }

  private read(key: string): Stored | undefined {
    const state = this.view.get(records.stateKey(key));
    if (!state) return undefined;
    let value: Buffer | undefined;
    const item = records.decodeState(key, state, () => (value = this.view.get(records.valueKey(key))));
    return { item, records: { state, value } };
  }
}

interface PendingCommitOptions {
  readonly view: View;
  readonly head: Revision;
  readonly timeMs: number;
  /** Reads a committed value. */
  readonly reread: DeferredValue['read'];
}

interface Stored {
  readonly item: KeyValue;
  readonly records: records.StateRecords;
}

const absent = Buffer.alloc(0);
