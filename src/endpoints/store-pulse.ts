import type { Clock, Timer } from '../std/clock.js';

/** Requests are repeated at this interval for a while after a probe, so that the next probe knows of an outage. */
const intervalMs = 500;
const repeatedForMs = 3_000;
/** A request that is not answered is given up, and another one sent: etcd's second member would have answered by then. */
const requestTimeoutMs = 1_500;
/** A probe waits at least as long for an answer that may be on its way. */
const waitMsMin = 250;

interface StorePulseOptions {
  readonly clock: Clock;
  /** Sends a request to the store, and gives up when the signal is aborted. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Tells whether the store answers. A probe with a timeout of 2 s that comes each second fails within 2 s of the last
 * request that the store answered, rather than 2 s after the probe:
 *
 *   probe 1 passes · answered · answered · store stops · no answer · probe 2 waits until 2 s after the last answer
 */
export class StorePulse {
  private request: Promise<void> | undefined;
  /** The time at which the youngest answered request was sent. */
  private confirmedMs = -Infinity;
  private probedMs = -Infinity;
  private timer: Timer | undefined;

  constructor(private readonly options: StorePulseOptions) {}

  /** Rejects if the store fails, or answers no request within the timeout. */
  async probe(timeoutMs: number): Promise<void> {
    const { clock } = this.options;
    const nowMs = clock.monotonicMs();
    const isFollowed = this.timer !== undefined;
    this.probedMs = nowMs;
    const dueMs = isFollowed ? Math.max(this.confirmedMs + timeoutMs, nowMs + waitMsMin) : nowMs + timeoutMs;
    const late = new Error(`no answer in ${timeoutMs} ms`);
    let lastFailure: Error | undefined;
    for (;;) {
      const leftMs = dueMs - clock.monotonicMs();
      if (leftMs <= 0) throw lastFailure ?? late;
      const outcome = await this.orAfter(leftMs, this.ask());
      if (outcome === 'answered') return;
      if (outcome === 'late') throw lastFailure ?? late;
      if (outcome !== 'given up') throw outcome;
      lastFailure = late;
    }
  }

  private orAfter(delayMs: number, answer: Promise<void>): Promise<'answered' | 'late' | 'given up' | Error> {
    return new Promise((resolve) => {
      const timer = this.options.clock.after(delayMs, () => resolve('late'));
      answer.then(
        () => {
          timer.cancel();
          resolve('answered');
        },
        (error: unknown) => {
          timer.cancel();
          if (error === givenUp) resolve('given up');
          else resolve(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  /** Joins the pending request, or sends one. */
  private ask(): Promise<void> {
    this.repeat();
    if (this.request) return this.request;
    const { clock, ask } = this.options;
    const sentMs = clock.monotonicMs();
    const aborted = new AbortController();
    const answer = new Promise<void>((resolve, reject) => {
      const timer = clock.after(requestTimeoutMs, () => {
        over();
        reject(givenUp);
        aborted.abort(givenUp);
      });
      const over = () => {
        timer.cancel();
        if (this.request === answer) this.request = undefined;
      };
      ask(aborted.signal).then(
        () => {
          this.confirmedMs = Math.max(this.confirmedMs, sentMs);
          over();
          resolve();
        },
        (error: unknown) => {
          over();
          reject(error);
        },
      );
    });
    answer.catch(() => undefined);
    this.request = answer;
    return answer;
  }

  private repeat(): void {
    const { clock } = this.options;
    this.timer ??= clock.after(intervalMs, () => {
      this.timer = undefined;
      if (clock.monotonicMs() - this.probedMs < repeatedForMs) void this.ask().catch(() => undefined);
    });
  }
}

const givenUp = new Error('the store did not answer in time');
