import type { Revision } from '../../machinery/revision.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  StoreEvent,
  TxnResult,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../kv-store.js';

/**
 * Opens one watch of the store for all watches of the same prefix. One that begins in the past reads its history by a
 * watch of its own, until it has reached the shared one:
 *
 *   store ──shared watch──> at 17 ──> A, B
 *         ──watch from 9──> at 14 ──> C        joins at 17
 */
export class SharedWatchStore implements KvStore {
  private readonly shared = new Map<string, SharedWatch>();

  constructor(private readonly store: KvStore) {}

  get(key: string, options?: ReadOptions): Promise<GetResult> {
    return this.store.get(key, options);
  }

  range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.store.range(prefix, options);
  }

  txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    return this.store.txn(compares, writes, options);
  }

  revision(options?: CallOptions): Promise<Revision> {
    return this.store.revision(options);
  }

  compact(revision: Revision): Promise<void> {
    return this.store.compact(revision);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const name = `${options.withPrevious ? 1 : 0}${prefix}`;
    let shared = this.shared.get(name);
    if (!shared) {
      const open = (from: Revision, to: WatchSink) => this.store.watch(prefix, { ...options, from }, to);
      shared = new SharedWatch(options.from, open, (ended) => {
        if (this.shared.get(name) === ended) this.shared.delete(name);
      });
      this.shared.set(name, shared);
    }
    return shared.add(options.from, sink);
  }
}

type OpenWatch = (from: Revision, sink: WatchSink) => Watch;

/** A watch of the store for several sinks. Ends with the last of them. */
class SharedWatch {
  /** All events up to this revision have been delivered to the members. */
  private position: Revision;
  private readonly members = new Set<Member>();
  private readonly watch: Watch;
  private isOpen = true;

  constructor(
    from: Revision,
    private readonly open: OpenWatch,
    private readonly ended: (shared: SharedWatch) => void,
  ) {
    this.position = (from - 1) as Revision;
    this.watch = open(from, {
      events: (events, revision) => this.deliver(events, revision),
      progress: (revision) => this.deliver([], revision),
      ended: () => this.abandon(),
    });
  }

  add(from: Revision, sink: WatchSink): Watch {
    const member = new Member(from, sink);
    this.members.add(member);
    if (from <= this.position) this.openOwn(member);
    return {
      requestProgress: () => (member.own ?? this.watch).requestProgress(),
      close: () => {
        member.close();
        this.remove(member);
      },
    };
  }

  private deliver(events: readonly StoreEvent[], revision: Revision): void {
    if (revision > this.position) this.position = revision;
    for (const member of this.members) if (!member.own) member.deliver(events, revision);
  }

  /** Lets a member continue by a watch of its own, until that has reached the shared one. */
  private openOwn(member: Member): void {
    const deliver = (events: readonly StoreEvent[], revision: Revision) => {
      member.deliver(events, revision);
      if (this.isOpen && member.next > this.position) member.closeOwn();
    };
    member.own = this.open(member.next, {
      events: deliver,
      progress: (revision) => deliver([], revision),
      ended: (error) => {
        this.remove(member);
        member.end(error);
      },
    });
  }

  /** The error may be that of the first member alone, so each gets its own. */
  private abandon(): void {
    this.isOpen = false;
    this.ended(this);
    for (const member of this.members) if (!member.own) this.openOwn(member);
  }

  private remove(member: Member): void {
    this.members.delete(member);
    if (this.members.size > 0 || !this.isOpen) return;
    this.isOpen = false;
    this.ended(this);
    this.watch.close();
  }
}

class Member {
  /** The watch by which it reads the past. */
  own: Watch | undefined = undefined;
  private isOpen = true;

  constructor(
    /** The next revision that it needs. */
    public next: Revision,
    private readonly sink: WatchSink,
  ) {}

  deliver(events: readonly StoreEvent[], revision: Revision): void {
    // A watch from a later revision has no progress before it; after a change of watches, events can come twice.
    if (!this.isOpen || revision < this.next - 1) return;
    const wanted = events.length === 0 || events[0]!.revision >= this.next ? events : this.later(events);
    const isNews = revision >= this.next;
    if (isNews) this.next = (revision + 1) as Revision;
    if (wanted.length > 0) this.sink.events(wanted, revision);
    else if (events.length === 0 || isNews) this.sink.progress(revision);
  }

  closeOwn(): void {
    this.own?.close();
    this.own = undefined;
  }

  close(): void {
    this.isOpen = false;
    this.closeOwn();
  }

  end(error: Error): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.sink.ended(error);
  }

  private later(events: readonly StoreEvent[]): readonly StoreEvent[] {
    return events.filter(({ revision }) => revision >= this.next);
  }
}
