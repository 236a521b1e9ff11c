import type { Subscription } from '../../src/cache/watch-request.js';
import type { Clock, Timer } from '../../src/std/clock.js';
import type { Rng } from '../../src/std/rng.js';
import {
  codeOf,
  describeCode,
  revisionOfCode,
  type ChangeType,
  type ChurnLog,
  type ChurnSelection,
} from './churn-log.js';
import type { Guarantee } from './guarantees.js';

/** Reading speed of a client: always, a few frames at a time, or too slow to keep up; `restless` clients reconnect. */
export type ChurnPace = 'fast' | 'paced' | 'slow' | 'restless';

export interface ChurnApi {
  /** The current revision of a list. */
  list(selection: ChurnSelection): Promise<number>;
  /** Rejects or returns undefined if the server is down. */
  watch(selection: ChurnSelection, after: number, watcher: ChurnWatcher): Promise<Subscription>;
}

export interface ChurnCounts {
  sent: number;
  bookmarks: number;
  expired: number;
  resumed: number;
  lagEventsMax: number;
}

interface Frame {
  readonly type: string;
  readonly revision: number;
  readonly keyIndex: number | undefined;
}

let lastFrame: Buffer | undefined;
let lastRead: Frame = { type: '', revision: 0, keyIndex: undefined };

/** Decodes a frame once for all watchers that receive it. */
function read(frame: Buffer, log: ChurnLog): Frame {
  if (frame === lastFrame) return lastRead;
  const { type, object } = JSON.parse(frame.toString()) as {
    type: string;
    object: { code?: number; metadata: { resourceVersion?: string; namespace?: string; name?: string } };
  };
  const { resourceVersion = '0', namespace = '', name = '' } = object.metadata;
  const revision = type === 'ERROR' ? (object.code ?? 0) : Number(resourceVersion);
  lastFrame = frame;
  lastRead = { type, revision, keyIndex: log.indexOf(namespace, name) };
  return lastRead;
}

/**
 * A client that knows its next expected event, so that nothing is kept: any other event is lost, duplicated or out of
 * order.
 */
export class ChurnWatcher {
  /** Index of the next expected event of its selection. */
  private next = 0;
  private position = 0;
  private subscription: Subscription | undefined;
  private isOver = true;
  private reading: Timer | undefined;
  private capacity = 0;
  private isUnpaced = false;
  private opening: Promise<void> | undefined;

  constructor(
    readonly name: string,
    readonly pace: ChurnPace,
    readonly selection: ChurnSelection,
    private readonly options: {
      readonly log: ChurnLog;
      readonly clock: Clock;
      readonly rng: Rng;
      readonly counts: ChurnCounts;
      readonly apis: readonly ChurnApi[];
      readonly violated: (guarantee: Guarantee, message: string) => void;
    },
  ) {}

  get isDone(): boolean {
    return !this.isOver && this.next === this.selection.due.length;
  }

  /** Resumes the watch unless it is open. */
  open(): Promise<void> {
    if (!this.isOver) return Promise.resolve();
    return (this.opening ??= this.begin().finally(() => (this.opening = undefined)));
  }

  bookmark(): void {
    if (this.capacity > 0) this.subscription?.sendBookmark();
  }

  /** Reads without delay from now on. */
  stopPacing(): void {
    this.isUnpaced = true;
    this.drain();
  }

  close(): void {
    this.isOver = true;
    this.reading?.cancel();
    this.reading = undefined;
    this.subscription?.close();
    this.subscription = undefined;
  }

  write(frame: Buffer): boolean {
    const { counts, log, rng } = this.options;
    const { type, revision, keyIndex } = read(frame, log);
    if (type === 'ERROR') {
      if (revision === 410) {
        counts.expired++;
        this.position = 0;
      } else this.options.violated('no-surprise', `${this.name}: the watch ended with ${revision}`);
      return true;
    }
    if (type === 'BOOKMARK') this.take(revision);
    else this.compare(type as ChangeType, revision, keyIndex);
    if (this.pace === 'restless' && rng.below(500) === 0) setImmediate(() => this.close());
    this.capacity--;
    if (this.capacity > 0 || this.isUnpaced) return true;
    const waitMs = this.pace === 'slow' ? 1_000 + rng.below(2_000) : 1 + rng.below(50);
    this.reading ??= this.options.clock.after(waitMs, () => this.drain());
    return false;
  }

  end(): void {
    this.close();
  }

  private drain(): void {
    this.reading?.cancel();
    this.reading = undefined;
    this.capacity = this.capacityMax();
    this.subscription?.drained();
  }

  private capacityMax(): number {
    if (this.isUnpaced || this.pace === 'fast' || this.pace === 'restless') return Infinity;
    return this.pace === 'paced' ? 64 : 16;
  }

  private async begin(): Promise<void> {
    const { apis, rng, counts } = this.options;
    const api = apis[rng.below(apis.length)]!;
    if (this.position === 0) this.goTo(await api.list(this.selection));
    else counts.resumed++;
    this.capacity = this.capacityMax();
    // The first events may arrive before the answer.
    this.isOver = false;
    try {
      const subscription = await api.watch(this.selection, this.position, this);
      if (this.isOver) subscription.close();
      else this.subscription = subscription;
    } catch {
      this.isOver = true;
    }
  }

  /** Continues with the first event after a revision. */
  private goTo(revision: number): void {
    const { due } = this.selection;
    let [low, high] = [0, due.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (revisionOfCode(due[middle]!) <= revision) low = middle + 1;
      else high = middle;
    }
    this.next = low;
    this.position = revision;
  }

  private take(bookmark: number): void {
    const { violated, counts } = this.options;
    const { due } = this.selection;
    counts.bookmarks++;
    if (bookmark < this.position) violated('bookmarkable', `${this.name}: ${bookmark} came after ${this.position}`);
    if (this.next < due.length && revisionOfCode(due[this.next]!) <= bookmark) {
      violated('bookmarkable', `${this.name}: ${bookmark} came before the ${describeCode(due[this.next]!)}`);
      this.goTo(bookmark);
    }
    this.position = bookmark;
  }

  private compare(type: ChangeType, revision: number, keyIndex: number | undefined): void {
    const { violated, counts } = this.options;
    const { due } = this.selection;
    counts.sent++;
    if (keyIndex === undefined) return violated('faithful', `${this.name}: ${type} of an unknown key`);
    const code = codeOf(revision, keyIndex, type);
    const want = due[this.next];
    if (code === want) {
      this.next++;
      this.position = revision;
      counts.lagEventsMax = Math.max(counts.lagEventsMax, due.length - this.next);
      return;
    }
    const text = `${this.name}: ${describeCode(code)} came instead of the ${want === undefined ? 'nothing' : describeCode(want)}`;
    if (revision <= this.position) violated('unique', text);
    else if (want !== undefined && revision > revisionOfCode(want)) violated('reliable', text);
    else violated('filtered', text);
    // Continues after the event, so that an error is reported once.
    this.goTo(revision);
  }
}
