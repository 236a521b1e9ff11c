import type { Clock, Timer } from '../std/clock.js';

/** Requests are repeated at this interval for a while after a probe, so that the next probe knows of an outage. */
const intervalMs = 250;
const repeatedForMs = 3_000;
/** A request that is not answered is given up: etcd's second member would have answered by then. */
const requestTimeoutMs = 1_500;
const inFlightMax = requestTimeoutMs / intervalMs;
/** A probe waits at least as long for an answer that may be on its way. */
const waitMsMin = 150;

interface StorePulseOptions {
  readonly clock: Clock;
  /** Sends a request to the store, and gives up when the signal is aborted. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
}

interface ProbeLimits {
  /** The time that a probe after a pause waits, and those soon after it. */
  readonly timeoutMs: number;
  /** Later probes fail if the youngest answered request was sent as long ago. */
  readonly silenceMs: number;
}

/**
 * Tells whether the store answers. Repeated requests do not wait for each other: of a store that takes a second, each
 * confirms that it answered a second ago, and no probe fails. With a silence of 1.5 s:
 *
 *   probe 1 passes · answered · answered · store stops · no answer · probe 2 fails 1.5 s after the last answered request
 */
export class StorePulse {
  private readonly waiting = new Set<(failure?: Error) => void>();
  private inFlight = 0;
  private sentMs = -Infinity;
  /** The time at which the youngest answered request was sent. */
  private confirmedMs = -Infinity;
  private probedMs = -Infinity;
  /** The time since which requests are repeated. */
  private repeatedSinceMs = -Infinity;
  private timer: Timer | undefined;

  constructor(private readonly options: StorePulseOptions) {}

  /** Rejects if the store fails, or answers no request in time. */
  probe({ timeoutMs, silenceMs }: ProbeLimits): Promise<void> {
    const { clock } = this.options;
    const nowMs = clock.monotonicMs();
    if (!this.timer) this.repeatedSinceMs = nowMs;
    this.probedMs = nowMs;
    const dueMs = Math.max(this.confirmedMs + silenceMs, this.repeatedSinceMs + timeoutMs, nowMs + waitMsMin);
    return new Promise((resolve, reject) => {
      const finish = (failure?: Error) => {
        late.cancel();
        this.waiting.delete(finish);
        if (failure) reject(failure);
        else resolve();
      };
      const late = clock.after(dueMs - nowMs, () => finish(new Error(`no answer in ${silenceMs} ms`)));
      this.waiting.add(finish);
      if (this.inFlight === 0 || nowMs - this.sentMs >= waitMsMin) this.ask();
      this.repeat();
    });
  }

  private ask(): void {
    if (this.inFlight >= inFlightMax) return;
    const { clock, ask } = this.options;
    const sentMs = (this.sentMs = clock.monotonicMs());
    const aborted = new AbortController();
    let isOver = false;
    const end = () => {
      timer.cancel();
      if (!isOver) this.inFlight--;
      isOver = true;
    };
    const timer = clock.after(requestTimeoutMs, () => {
      end();
      aborted.abort(new Error('the store did not answer in time'));
    });
    this.inFlight++;
    ask(aborted.signal).then(
      () => {
        end();
        this.confirmedMs = Math.max(this.confirmedMs, sentMs);
        this.finishProbes();
      },
      (error: unknown) => {
        const isGivenUp = isOver;
        end();
        if (isGivenUp || sentMs < this.confirmedMs) return;
        this.finishProbes(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  private finishProbes(failure?: Error): void {
    for (const finish of [...this.waiting]) finish(failure);
  }

  private repeat(): void {
    const { clock } = this.options;
    this.timer ??= clock.after(intervalMs, () => {
      this.timer = undefined;
      if (clock.monotonicMs() - this.probedMs >= repeatedForMs) return;
      this.ask();
      this.repeat();
    });
  }
}
