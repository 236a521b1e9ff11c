import type { RequestInfo } from '../machinery/request-info.js';
import { RatioHistogram } from './ratio-histogram.js';

const bounds = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

class Phases {
  readonly executing: RatioHistogram;
  readonly waiting: RatioHistogram;
  executingCount = 0;
  waitingCount = 0;

  constructor(nowMs: number) {
    this.executing = new RatioHistogram(bounds, nowMs);
    this.waiting = new RatioHistogram(bounds, nowMs);
  }
}

/** Executing and waiting requests over time, apart for reads and writes, for metrics. */
export class ReadsAndWrites {
  private readonly reads: Phases;
  private readonly writes: Phases;

  constructor(nowMs: number) {
    this.reads = new Phases(nowMs);
    this.writes = new Phases(nowMs);
  }

  setLimits({ executing, waiting }: { executing: number; waiting: number }, nowMs: number): void {
    for (const phases of [this.reads, this.writes]) {
      phases.executing.setLimit(Math.max(1, executing), nowMs);
      phases.waiting.setLimit(Math.max(1, waiting), nowMs);
    }
  }

  executing(info: RequestInfo, change: 1 | -1, nowMs: number): void {
    const phases = this.of(info);
    phases.executing.set((phases.executingCount += change), nowMs);
  }

  waiting(info: RequestInfo, change: 1 | -1, nowMs: number): void {
    const phases = this.of(info);
    phases.waiting.set((phases.waitingCount += change), nowMs);
  }

  *entries(nowMs: number): Iterable<readonly [phase: string, kind: string, ratio: RatioHistogram]> {
    for (const [kind, phases] of [
      ['mutating', this.writes],
      ['readOnly', this.reads],
    ] as const) {
      phases.executing.fold(nowMs);
      phases.waiting.fold(nowMs);
      yield ['executing', kind, phases.executing];
      yield ['waiting', kind, phases.waiting];
    }
  }

  private of({ verb }: RequestInfo): Phases {
    return verb === 'get' || verb === 'list' || verb === 'watch' ? this.reads : this.writes;
  }
}
