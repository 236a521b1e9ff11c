import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../std/clock.js';
import type { Rng } from '../std/rng.js';

/** What is measured of one queue. Times are in seconds. */
export interface QueueObserver {
  added(depth: number): void;
  /** `waitedSeconds` is how long the item stood in the queue. */
  taken(depth: number, waitedSeconds: number): void;
  worked(seconds: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /**
   * Brings one item to where it should be, from what is there now and not from what happened. It is tried again when
   * it rejects; a delay that it returns is when to look at the item again although nothing was added.
   */
  readonly work: (item: string, signal: AbortSignal) => Promise<void | { readonly againInMs: number }>;
  readonly failed: (item: string, error: unknown, retryInMs: number) => void;
  readonly observer: QueueObserver;
  /** Until an item that is added is worked on; none by default. */
  readonly delayMs?: () => number;
  /** Items under way at once; an item is never under way twice. */
  readonly workersMax?: number;
  readonly retryDelayMinMs?: number;
  readonly retryDelayMaxMs?: number;
}

/** Work that waits for nothing must not keep requests waiting: after a start there may be a hundred thousand names. */
const itemsPerTurn = 100;

/**
 * Names of things to look at. A name that is added while it waits waits once; one that is added while it is worked on
 * is worked on once more. Failures come back later and later, each name by itself.
 *
 *   add --> waiting --> under way --> done
 *              ^            |  added meanwhile, or failed: after a delay
 *              +------------+
 */
export class WorkQueue {
  private readonly waiting = new Map<string, number>();
  private readonly underWay = new Set<string>();
  private readonly again = new Set<string>();
  private readonly delayed = new Map<string, { readonly dueMs: number; readonly timer: Timer }>();
  private readonly failures = new Map<string, number>();
  private readonly stopping = new AbortController();
  private emptied: (() => void)[] = [];
  private begunInTurn = 0;

  constructor(private readonly options: WorkQueueOptions) {
    // Everything that is under way listens, and an item may do many things at once.
    setMaxListeners(0, this.stopping.signal);
  }

  get depth(): number {
    return this.waiting.size;
  }

  add(item: string): void {
    const delayMs = this.options.delayMs?.() ?? 0;
    if (delayMs > 0) this.addAfter(item, delayMs);
    else this.addNow(item);
  }

  private addNow(item: string): void {
    if (this.stopping.signal.aborted || this.waiting.has(item)) return;
    this.forgetDelay(item);
    if (this.underWay.has(item)) {
      this.again.add(item);
      return;
    }
    this.waiting.set(item, this.options.clock.monotonicMs());
    this.options.observer.added(this.waiting.size);
    this.takeNext();
  }

  /** The earlier of two delays of an item holds. */
  addAfter(item: string, delayMs: number): void {
    if (this.stopping.signal.aborted || this.waiting.has(item)) return;
    const { clock } = this.options;
    const leastMs = Math.max(delayMs, this.options.delayMs?.() ?? 0);
    const dueMs = clock.monotonicMs() + leastMs;
    const known = this.delayed.get(item);
    if (known && known.dueMs <= dueMs) return;
    known?.timer.cancel();
    const timer = clock.after(leastMs, () => {
      this.delayed.delete(item);
      this.addNow(item);
    });
    this.delayed.set(item, { dueMs, timer });
  }

  /** Nothing more is begun; what is under way sees its signal aborted and is waited for. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the reconciler is stopping'));
    for (const { timer } of this.delayed.values()) timer.cancel();
    this.delayed.clear();
    this.waiting.clear();
    if (this.underWay.size > 0) await new Promise<void>((resolve) => this.emptied.push(resolve));
  }

  private takeNext(): void {
    const { clock, observer, workersMax = 1 } = this.options;
    while (this.underWay.size < workersMax && this.begunInTurn < itemsPerTurn) {
      const [next] = this.waiting;
      if (!next) return;
      if (this.begunInTurn++ === 0) setImmediate(() => this.nextTurn());
      const [item, sinceMs] = next;
      this.waiting.delete(item);
      this.underWay.add(item);
      observer.taken(this.waiting.size, (clock.monotonicMs() - sinceMs) / 1000);
      void this.workOn(item);
    }
  }

  private nextTurn(): void {
    this.begunInTurn = 0;
    this.takeNext();
  }

  private async workOn(item: string): Promise<void> {
    const { clock, work, observer, failed } = this.options;
    const startMs = clock.monotonicMs();
    // Whoever added the item may be in the middle of something.
    await Promise.resolve();
    try {
      const result = await work(item, this.stopping.signal);
      this.failures.delete(item);
      if (result) this.addAfterWork(item, result.againInMs);
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        const retryInMs = this.retryDelayOf(item);
        observer.retried();
        failed(item, error, retryInMs);
        this.addAfterWork(item, retryInMs);
      }
    }
    observer.worked((clock.monotonicMs() - startMs) / 1000);
    this.underWay.delete(item);
    if (this.again.delete(item)) this.add(item);
    if (this.stopping.signal.aborted) {
      if (this.underWay.size === 0) for (const resolve of this.emptied.splice(0)) resolve();
    } else this.takeNext();
  }

  private addAfterWork(item: string, delayMs: number): void {
    if (!this.again.has(item)) this.addAfter(item, delayMs);
  }

  /** Twice as long each time, and a tenth of it left to chance, so that what failed together does not come back together. */
  private retryDelayOf(item: string): number {
    const { rng, retryDelayMinMs = 5, retryDelayMaxMs = 300_000 } = this.options;
    const failures = this.failures.get(item) ?? 0;
    this.failures.set(item, failures + 1);
    const delayMs = Math.min(retryDelayMinMs * 2 ** Math.min(failures, 30), retryDelayMaxMs);
    return delayMs + rng.below(Math.ceil(delayMs / 10) + 1);
  }

  private forgetDelay(item: string): void {
    this.delayed.get(item)?.timer.cancel();
    this.delayed.delete(item);
  }
}
