import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';

/** The same failure is logged again after this time. */
const repeatMs = 5 * 60_000;

/** Logs a failure that is retried: once, again every five minutes while it lasts, and its end. */
export class FailureLog {
  private failure: { readonly text: string; loggedAtMs: number } | undefined;
  private attempts = 0;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly messages: { readonly failed: string; readonly recovered: string },
  ) {}

  failed(error: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    const text = error instanceof Error ? error.message : String(error);
    const nowMs = this.clock.monotonicMs();
    this.attempts++;
    if (this.failure?.text === text && nowMs - this.failure.loggedAtMs < repeatMs) return;
    this.failure = { text, loggedAtMs: nowMs };
    this.logger.warn(this.messages.failed, { ...fields, attempts: this.attempts, error: text });
  }

  succeeded(): void {
    if (this.failure) this.logger.info(this.messages.recovered, { attempts: this.attempts });
    this.failure = undefined;
    this.attempts = 0;
  }
}
