import { Histogram } from '../std/histogram.js';

export type RejectionReason = 'concurrency-limit' | 'queue-full' | 'time-out';

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000];
const seatBounds = [1, 2, 4, 8, 16, 32, 64, 100];
const watchBounds = [0, 1, 10, 100, 1000, 10000];

/** Counts of the requests of one FlowSchema in one priority level, for metrics. */
export class FlowSeries {
  dispatched = 0;
  executing = 0;
  executingSeats = 0;
  waiting = 0;
  waitingSeats = 0;
  /** Dispatch attempts for which not enough seats were free. */
  unaccommodated = 0;
  readonly rejected = new Map<RejectionReason, number>();
  readonly seats = new Histogram(seatBounds);
  /** Absent without observations, as in kube-apiserver. */
  waitSeconds: Histogram | undefined = undefined;
  rejectedWaitSeconds: Histogram | undefined = undefined;
  requestSeconds: Histogram | undefined = undefined;
  watchSeconds: Histogram | undefined = undefined;
  queueLengths: Histogram | undefined = undefined;
  concernedWatches: Histogram | undefined = undefined;

  constructor(
    readonly schemaName: string,
    readonly levelName: string,
  ) {}

  waited(seconds: number, executes: boolean): void {
    if (executes) (this.waitSeconds ??= new Histogram(secondsBounds)).observe(seconds);
    else (this.rejectedWaitSeconds ??= new Histogram(secondsBounds)).observe(seconds);
  }

  executed(seconds: number, isWatch: boolean): void {
    if (isWatch) (this.watchSeconds ??= new Histogram(secondsBounds)).observe(seconds);
    else (this.requestSeconds ??= new Histogram(secondsBounds)).observe(seconds);
  }

  enqueued(length: number): void {
    (this.queueLengths ??= new Histogram(lengthBounds)).observe(length);
  }

  concerns(watches: number): void {
    (this.concernedWatches ??= new Histogram(watchBounds)).observe(watches);
  }

  reject(reason: RejectionReason): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1);
  }
}
