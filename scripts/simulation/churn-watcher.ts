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

/** How a client reads: always, some frames at a time, or so slowly that it is left behind; restless ones go and come. */
export type ChurnPace = 'fast' | 'paced' | 'slow' | 'restless';

export interface ChurnDoor {
  /** Where a list is now. */
  list(selection: ChurnSelection): Promise<number>;
  /** Rejects, or gives undefined, where the server is away. */
  watch(selection: ChurnSelection, after: number, watcher: ChurnWatcher): Promise<Subscription>;
}

export interface ChurnCounts {
  told: number;
  bookmarks: number;
  expired: number;
  resumed: number;
  lagEventsMax: number;
}

interface Frame {
  readonly type: string;
  readonly revision: number;
  readonly place: number | undefined;
}

let lastFrame: Buffer | undefined;
let lastRead: Frame = { type: '', revision: 0, place: undefined };

/** One frame goes to many watchers, one after the other: it is read once. */
function read(frame: Buffer, log: ChurnLog): Frame {
  if (frame === lastFrame) return lastRead;
  const { type, object } = JSON.parse(frame.toString()) as {
    type: string;
    object: { code?: number; metadata: { resourceVersion?: string; namespace?: string; name?: string } };
  };
  const { resourceVersion = '0', namespace = '', name = '' } = object.metadata;
  const revision = type === 'ERROR' ? (object.code ?? 0) : Number(resourceVersion);
  lastFrame = frame;
  lastRead = { type, revision, place: log.placeOf(namespace, name) };
  return lastRead;
}

/**
 * One client. It knows what it is due next, so that each event is compared as it comes and nothing is kept: whatever is
 * not the next one was lost, came twice, or is out of order.
 */
export class ChurnWatcher {
  /** Of what is due to its selection. */
  private next = 0;
  private position = 0;
  private subscription: Subscription | undefined;
  private isOver = true;
  private reading: Timer | undefined;
  private room = 0;
  private isHurried = false;
  private opening: Promise<void> | undefined;

  constructor(
    readonly name: string,
    readonly pace: ChurnPace,
    readonly selection: ChurnSelection,
    private readonly parts: {
      readonly log: ChurnLog;
      readonly clock: Clock;
      readonly rng: Rng;
      readonly counts: ChurnCounts;
      readonly doors: readonly ChurnDoor[];
      readonly violated: (guarantee: Guarantee, message: string) => void;
    },
  ) {}

  get isDone(): boolean {
    return !this.isOver && this.next === this.selection.due.length;
  }

  /** Watches on from where it was, unless it does already. */
  open(): Promise<void> {
    if (!this.isOver) return Promise.resolve();
    return (this.opening ??= this.begin().finally(() => (this.opening = undefined)));
  }

  bookmark(): void {
    if (this.room > 0) this.subscription?.sendBookmark();
  }

  /** From here on it takes all that comes. */
  hurry(): void {
    this.isHurried = true;
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
    const { counts, log, rng } = this.parts;
    const { type, revision, place } = read(frame, log);
    if (type === 'ERROR') {
      if (revision === 410) {
        counts.expired++;
        this.position = 0;
      } else this.parts.violated('no-surprise', `${this.name}: the watch ended with ${revision}`);
      return true;
    }
    if (type === 'BOOKMARK') this.take(revision);
    else this.compare(type as ChangeType, revision, place);
    if (this.pace === 'restless' && rng.below(500) === 0) setImmediate(() => this.close());
    this.room--;
    if (this.room > 0 || this.isHurried) return true;
    const waitMs = this.pace === 'slow' ? 1_000 + rng.below(2_000) : 1 + rng.below(50);
    this.reading ??= this.parts.clock.after(waitMs, () => this.drain());
    return false;
  }

  end(): void {
    this.close();
  }

  private drain(): void {
    this.reading?.cancel();
    this.reading = undefined;
    this.room = this.roomMax();
    this.subscription?.drained();
  }

  private roomMax(): number {
    if (this.isHurried || this.pace === 'fast' || this.pace === 'restless') return Infinity;
    return this.pace === 'paced' ? 64 : 16;
  }

  private async begin(): Promise<void> {
    const { doors, rng, counts } = this.parts;
    const door = doors[rng.below(doors.length)]!;
    if (this.position === 0) this.goTo(await door.list(this.selection));
    else counts.resumed++;
    this.room = this.roomMax();
    // The first events may come before it has answered.
    this.isOver = false;
    try {
      const subscription = await door.watch(this.selection, this.position, this);
      if (this.isOver) subscription.close();
      else this.subscription = subscription;
    } catch {
      this.isOver = true;
    }
  }

  /** To the first event after a revision: that of a list, or an older one of its own. */
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
    const { violated, counts } = this.parts;
    const { due } = this.selection;
    counts.bookmarks++;
    if (bookmark < this.position) violated('bookmarkable', `${this.name}: ${bookmark} came after ${this.position}`);
    if (this.next < due.length && revisionOfCode(due[this.next]!) <= bookmark) {
      violated('bookmarkable', `${this.name}: ${bookmark} came before the ${describeCode(due[this.next]!)}`);
      this.goTo(bookmark);
    }
    this.position = bookmark;
  }

  private compare(type: ChangeType, revision: number, place: number | undefined): void {
    const { violated, counts } = this.parts;
    const { due } = this.selection;
    counts.told++;
    if (place === undefined) return violated('faithful', `${this.name}: ${type} of a key that nobody wrote`);
    const code = codeOf(revision, place, type);
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
    // One mistake is told once.
    this.goTo(revision);
  }
}
