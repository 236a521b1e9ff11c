import type { Revision } from '../machinery/revision.js';
import { StorageError } from '../storage/storage-error.js';
import type { Clock, Timer } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import type { CacheLimits } from './cache-limits.js';
import { Canceller, type Cancellation } from '../std/cancellation.js';
import type { RequestSteps } from '../tracing/request-steps.js';

/** The feed did not reach the revision within the caller's timeout. */
export class FreshnessTimeout extends Error {
  override readonly name = 'FreshnessTimeout';
  constructor(
    readonly requested: Revision,
    readonly current: Revision,
  ) {
    super(`revision ${requested} was not reached in time; the latest is ${current}`);
  }
}

/** A request that waits. Its signal is read only if it has to wait, since most requests create it on first use. */
export interface Caller {
  readonly signal?: Cancellation | undefined;
  readonly steps?: RequestSteps | undefined;
}

export interface WaitOptions {
  readonly caller?: Caller | undefined;
  readonly timeoutMs: number;
}

interface FreshnessOptions {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly limits: CacheLimits;
  position(): Revision;
  readRevision(signal: Cancellation): Promise<Revision>;
  requestProgress(): void;
}

interface Waiter {
  readonly revision: Revision;
  finish(error?: unknown): void;
}

/**
 * Waits until memory is as fresh as the store, without reading objects from the store:
 *
 *   A asks ──> revision()? ──> 17 ── wait until the feed has passed 17 ──> answer from memory
 *   B asks      (under way:         C asks
 *                too old for B) ──> revision()? ──> 19 ── both B and C wait for 19
 *
 * One revision read is under way at a time, and serves only readers that asked before it was sent. Under load each read
 * is delayed briefly to collect more readers, since it costs as much as several answers from memory. A few readers are
 * never delayed.
 */
export class Freshness {
  /** Ordered by revision, which is nearly always the order of arrival. */
  private waiters: Waiter[] = [];
  private isReading = false;
  private nextRead: Deferred<Revision> | undefined;
  private nextReaders = 0;
  /** The number of readers of the last revision read. */
  private lastReaders = 0;
  private progressTimer: Timer | undefined;
  private closedBy: Error | undefined;
  private confirmedMs: number;

  constructor(private readonly options: FreshnessOptions) {
    this.confirmedMs = options.clock.monotonicMs();
  }

  /** The time since the feed was last confirmed to hold everything that the store had acknowledged. */
  get lagMs(): number {
    return this.options.clock.monotonicMs() - this.confirmedMs;
  }

  confirm(): void {
    this.confirmedMs = this.options.clock.monotonicMs();
  }

  waitFor(revision: Revision, options: WaitOptions, timeoutMs = options.timeoutMs): Promise<void> {
    if (this.closedBy) return Promise.reject(this.closedBy);
    if (this.options.position() >= revision) return Promise.resolve();
    const signal = options.caller?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const timeout = this.options.wheel.after(timeoutMs, () => {
        this.leave(waiter);
        waiter.finish(new FreshnessTimeout(revision, this.options.position()));
      });
      const aborted = () => {
        this.leave(waiter);
        waiter.finish(signal!.reason);
      };
      const waiter: Waiter = {
        revision,
        finish(error) {
          timeout.cancel();
          signal?.removeEventListener('abort', aborted);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.join(waiter);
    });
  }

  async consistentRevision(options: WaitOptions): Promise<Revision> {
    const { clock } = this.options;
    const startMs = clock.monotonicMs();
    const revision = await this.readRevision();
    const askedMs = startMs;
    await this.waitFor(revision, options, Math.max(0, options.timeoutMs - (clock.monotonicMs() - startMs)));
    this.confirmedMs = Math.max(this.confirmedMs, askedMs);
    return revision;
  }

  /** Called when the feed's position has changed. */
  positionMoved(): void {
    const position = this.options.position();
    let reached = 0;
    while (reached < this.waiters.length && this.waiters[reached]!.revision <= position) reached++;
    if (reached === 0) return;
    for (const waiter of this.waiters.splice(0, reached)) waiter.finish();
    if (this.waiters.length === 0) this.cancelProgress();
  }

  close(error: Error): void {
    this.closedBy = error;
    this.cancelProgress();
    for (const waiter of this.waiters.splice(0)) waiter.finish(error);
    this.nextRead?.reject(error);
  }

  private readRevision(): Promise<Revision> {
    if (this.closedBy) return Promise.reject(this.closedBy);
    if (!this.nextRead) {
      this.nextRead = new Deferred<Revision>();
      // A microtask later, so that requests of the same packet share the read.
      if (!this.isReading) this.sendSoon();
    }
    this.nextReaders++;
    return this.nextRead.promise;
  }

  private sendSoon(): void {
    const { clock, limits } = this.options;
    if (this.lastReaders + this.nextReaders < limits.revisionGatherReadersMin) queueMicrotask(() => this.sendRead());
    else clock.after(limits.revisionGatherMs, () => this.sendRead());
  }

  private sendRead(): void {
    const answer = this.nextRead;
    if (!answer || this.isReading) return;
    this.nextRead = undefined;
    this.lastReaders = this.nextReaders;
    this.nextReaders = 0;
    this.isReading = true;
    const giveUp = new Canceller();
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      deadline.cancel();
      this.isReading = false;
      if (this.nextRead) this.sendSoon();
    };
    const deadline = this.options.wheel.after(this.options.limits.revisionTimeoutMs, () => {
      const late = new StorageError('unavailable', 'the store did not return its revision in time');
      answer.reject(late);
      giveUp.cancel(late);
      over();
    });
    this.options
      .readRevision(giveUp)
      .then(answer.resolve, answer.reject)
      .finally(over)
      .catch(() => undefined);
  }

  private join(waiter: Waiter): void {
    let at = this.waiters.length;
    while (at > 0 && this.waiters[at - 1]!.revision > waiter.revision) at--;
    this.waiters.splice(at, 0, waiter);
    if (!this.progressTimer) this.requestProgressLater(this.options.limits.progressDelayMinMs);
  }

  private leave(waiter: Waiter): void {
    const at = this.waiters.indexOf(waiter);
    if (at >= 0) this.waiters.splice(at, 1);
    if (this.waiters.length === 0) this.cancelProgress();
  }

  /**
   * Requests progress: the revision may have been written outside the feed's prefix, so that no event will bring it.
   */
  private requestProgressLater(delayMs: number): void {
    this.progressTimer = this.options.clock.after(delayMs, () => {
      this.options.requestProgress();
      this.requestProgressLater(Math.min(delayMs * 2, this.options.limits.progressDelayMaxMs));
    });
  }

  private cancelProgress(): void {
    this.progressTimer?.cancel();
    this.progressTimer = undefined;
  }
}
