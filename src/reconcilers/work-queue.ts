import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../std/clock.js';
import type { Rng } from '../std/rng.js';

/** Receives the metrics of one queue. Times are in seconds. */
export interface QueueObserver {
  added(depth: number): void;
  /** `waitedSeconds` is the time that the item was in the queue. */
  taken(depth: number, waitedSeconds: number): void;
  worked(seconds: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /**
   * Reconciles one item from its current state, not from events. It is retried if it rejects, and called again after the
   * delay that it returns.
   */
  readonly work: (item: string, signal: AbortSignal) => Promise<void | { readonly againInMs: number }>;
  readonly failed: (item: string, error: unknown, retryInMs: number) => void;
  readonly observer: QueueObserver;
  /** Delay of added items; none by default. */
  readonly delayMs?: () => number;
  /** Limit on items that are processed at the same time. One item is never processed twice at a time. */
  readonly workersMax?: number;
  readonly retryDelayMinMs?: number;
  readonly retryDelayMaxMs?: number;
}

/** Items started in one turn of the event loop, so that requests are served while many items are processed quickly. */
const itemsPerTurn = 100;

/**
 * A queue of names, as client-go's workqueue. A name that is added while it waits is processed once; a name that is added
 * while it is processed is processed once more. Failed names are retried with growing delays, each by itself.
 *
 *   add --> waiting --> processing --> done
 *              ^             |  added meanwhile, or failed: after a delay
 *              +-------------+
 */
export class WorkQueue {
  private readonly waiting = new Map<string, number>();
  private readonly processing = new Set<string>();
  private readonly again = new Set<string>();
  private readonly delayed = new Map<string, { readonly dueMs: number; readonly timer: Timer }>();
  private readonly failures = new Map<string, number>();
  private readonly stopping = new AbortController();
  private emptied: (() => void)[] = [];
  private startedInTurn = 0;

  constructor(private readonly options: WorkQueueOptions) {
    // All running calls add listeners to the signal.
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
    if (this.processing.has(item)) {
      this.again.add(item);
      return;
    }
    this.waiting.set(item, this.options.clock.monotonicMs());
    this.options.observer.added(this.waiting.size);
    this.takeNext();
  }

  /** Adds the item after a delay. Of several delays of an item, the one that ends first applies. */
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

  /** Starts no more items, aborts the signal of running ones and waits for them. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the reconciler is stopping'));
    for (const { timer } of this.delayed.values()) timer.cancel();
    this.delayed.clear();
    this.waiting.clear();
    if (this.processing.size > 0) await new Promise<void>((resolve) => this.emptied.push(resolve));
  }

  private takeNext(): void {
    const { clock, observer, workersMax = 1 } = this.options;
    while (this.processing.size < workersMax && this.startedInTurn < itemsPerTurn) {
      const [next] = this.waiting;
      if (!next) return;
      if (this.startedInTurn++ === 0) setImmediate(() => this.nextTurn());
      const [item, sinceMs] = next;
      this.waiting.delete(item);
      this.processing.add(item);
      observer.taken(this.waiting.size, (clock.monotonicMs() - sinceMs) / 1000);
      void this.workOn(item);
    }
  }

  private nextTurn(): void {
    this.startedInTurn = 0;
    this.takeNext();
  }

  private async workOn(item: string): Promise<void> {
    const { clock, work, observer, failed } = this.options;
    const startMs = clock.monotonicMs();
    // Lets the code that added the item finish its turn.
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
    this.processing.delete(item);
    if (this.again.delete(item)) this.add(item);
    if (this.stopping.signal.aborted) {
      if (this.processing.size === 0) for (const resolve of this.emptied.splice(0)) resolve();
    } else this.takeNext();
  }

  private addAfterWork(item: string, delayMs: number): void {
    if (!this.again.has(item)) this.addAfter(item, delayMs);
  }

  /** Doubles with each failure, plus up to a tenth at random, so that items that failed together are not retried together. */
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
