import { Buckets, latencyBounds, type Labels } from './metric-family.js';

export interface RequestOutcome {
  /** 0 if the client closed the connection before anything was sent. */
  readonly code: number;
  readonly seconds: number;
  readonly sentBytes: number;
  /** Undefined if no body was read. */
  readonly receivedBytes?: number | undefined;
  /** True if the deadline of the request ended it. */
  readonly isExpired?: boolean;
}

/** Counts of one combination of labels. */
export class Series {
  readonly durations = new Buckets(latencyBounds);
  sizes: Buckets | undefined = undefined;
  bodies: Buckets | undefined = undefined;
  /** Requests that were rejected with 429 or that timed out, by status code. */
  readonly terminations = new Map<number, number>();
  running = 0;
  /** An array, since a search in a few entries is faster than a map. */
  readonly outcomes: { readonly code: number; count: number }[] = [];

  constructor(
    readonly labels: Labels,
    readonly dryRun: string,
  ) {}

  count(code: number, times = 1): void {
    const { outcomes } = this;
    for (let at = 0; at < outcomes.length; at++) {
      const outcome = outcomes[at]!;
      if (outcome.code === code) {
        outcome.count += times;
        return;
      }
    }
    outcomes.push({ code, count: times });
  }

  /** Adds what is common to all series; sizes of bodies are kept by resource alone. */
  add(other: Series): void {
    this.durations.add(other.durations);
    for (const { code, count } of other.outcomes) this.count(code, count);
    for (const [code, count] of other.terminations) {
      this.terminations.set(code, (this.terminations.get(code) ?? 0) + count);
    }
  }
}
