import type { Revision } from '../../machinery/revision.js';
import type { StoreEvent, Watch, WatchOptions, WatchSink } from '../kv-store.js';
import { deleteEvent, putEvent } from '../store-event.js';
import { StorageError } from '../storage-error.js';

/** One revision; its events have their previous values. */
export interface LogEntry {
  readonly revision: Revision;
  readonly events: readonly StoreEvent[];
}

/** The log that the hub reads. Revisions are contiguous from `floor` to `head`. */
interface WatchLog {
  /** The last acknowledged revision. */
  head(): Revision;
  /** The first kept revision. */
  floor(): Revision;
  /**
   * Returns at least one entry from `from` on, which is not above the head, and not so many that they block the event
   * loop.
   */
  read(from: Revision): readonly LogEntry[];
}

/**
 * Delivers the log to watches. Every watch is a cursor: the revision it needs next. After a commit all cursors advance
 * to the head; one that starts in the past reads one slice of the log per tick. There are no queues.
 */
export class WatchHub {
  private readonly cursors = new Set<Cursor>();
  private isScheduled = false;
  private closedBy: StorageError | undefined;

  constructor(private readonly log: WatchLog) {}

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const cursor = new Cursor(this.log, prefix, options, sink);
    this.cursors.add(cursor);
    this.schedule();
    return {
      requestProgress: () => {
        cursor.wantsProgress = true;
        this.schedule();
      },
      close: () => {
        cursor.isOpen = false;
        this.cursors.delete(cursor);
      },
    };
  }

  /** Called when the head or the floor has changed. */
  changed(): void {
    if (this.cursors.size > 0) this.schedule();
  }

  close(reason: StorageError): void {
    this.closedBy = reason;
    for (const cursor of this.cursors) cursor.end(reason);
    this.cursors.clear();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(() => this.advance());
  }

  private advance(): void {
    this.isScheduled = false;
    if (this.closedBy) return this.close(this.closedBy);
    let isBehind = false;
    for (const cursor of this.cursors) {
      const isThere = cursor.advance();
      if (!cursor.isOpen) this.cursors.delete(cursor);
      else if (!isThere) isBehind = true;
    }
    if (isBehind && !this.isScheduled) {
      this.isScheduled = true;
      setImmediate(() => this.advance());
    }
  }
}

class Cursor {
  isOpen = true;
  wantsProgress = false;
  private next: Revision;

  constructor(
    private readonly log: WatchLog,
    private readonly prefix: string,
    private readonly options: WatchOptions,
    private readonly sink: WatchSink,
  ) {
    this.next = options.from;
  }

  /** Delivers one slice of the log; returns true if the cursor has reached the head. An error ends this watch only. */
  advance(): boolean {
    try {
      if (this.next <= this.log.head()) this.deliver();
      const isThere = this.next > this.log.head();
      if (this.isOpen && this.wantsProgress && this.next === this.log.head() + 1) {
        this.wantsProgress = false;
        this.sink.progress(this.log.head());
      }
      return isThere;
    } catch (error) {
      this.end(error as Error);
      return true;
    }
  }

  end(error: Error): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.sink.ended(error);
  }

  private deliver(): void {
    const floor = this.log.floor();
    if (this.next < floor) {
      throw new StorageError('compacted', `revision ${this.next} is below ${floor}, the first one kept`);
    }
    const entries = this.log.read(this.next);
    const events = this.select(entries);
    const last = entries.at(-1)!.revision;
    this.next = (last + 1) as Revision;
    if (events.length > 0) this.sink.events(events, last);
    else this.wantsProgress = true;
  }

  private select(entries: readonly LogEntry[]): StoreEvent[] {
    const selected: StoreEvent[] = [];
    for (const entry of entries) {
      for (const event of entry.events) {
        if (!event.key.startsWith(this.prefix)) continue;
        selected.push(this.options.withPrevious ? event : withoutPrevious(event));
      }
    }
    return selected;
  }
}

function withoutPrevious(event: StoreEvent): StoreEvent {
  return event.type === 'put' ? putEvent(event.item) : deleteEvent(event.key, event.revision);
}
