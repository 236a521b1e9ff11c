import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';

interface Options {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A webhook that is down fails many requests: one line tells of all failures in this time. */
const intervalMs = 10_000;

/** Logs failures of a webhook, at most one line in ten seconds. */
export class FailureLog {
  private failures = 0;
  private nextLogMs = -Infinity;

  constructor(private readonly options: Options) {}

  /** `message` says what to do. */
  log(message: string, error: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const { clock, logger } = this.options;
    this.failures++;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.nextLogMs) return;
    this.nextLogMs = nowMs + intervalMs;
    logger.warn(message, { ...fields, error, failures: this.failures });
    this.failures = 0;
  }
}
