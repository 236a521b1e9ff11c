import type { Cancellation } from './cancellation.js';

/** A timer. Cancelling one that has run does nothing. */
export interface Timer {
  cancel(): void;
}

/** The source of all time in the server, so that tests can stop and advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonicMs(): number;
  /** Runs `task` once. The timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer;
}

/** The longest delay of setTimeout(), which runs tasks with a longer one at once. */
const timeoutMsMax = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    let handle: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      const isLast = leftMs <= timeoutMsMax;
      handle = isLast ? setTimeout(task, leftMs) : setTimeout(() => wait(leftMs - timeoutMsMax), timeoutMsMax);
      handle.unref();
    };
    wait(delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Runs `task` periodically, `delayMs` after the end of the previous run, even after a failure. */
export function every(clock: Clock, delayMs: number, task: () => Promise<void> | void): Timer {
  let stopped = false;
  let timer: Timer;
  const arm = () => {
    timer = clock.after(delayMs, () => {
      void Promise.resolve()
        .then(task)
        .catch(() => undefined)
        .then(() => {
          if (!stopped) arm();
        });
    });
  };
  arm();
  return {
    cancel() {
      stopped = true;
      timer.cancel();
    },
  };
}

/** Keeps the process alive until it is cancelled, for a command that may only wait for timers. */
export function holdProcess(): Timer {
  const handle = setInterval(() => undefined, 2 ** 30);
  return { cancel: () => clearInterval(handle) };
}

/** Resolves after `delayMs`; rejects with the signal's reason if it is aborted first. */
export function sleep(clock: Clock, delayMs: number, signal?: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      timer.cancel();
      reject(signal!.reason);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** A clock for tests that only advance() moves. Timers run in order of their due times. */
export class ManualClock implements Clock {
  private timers: { dueMs: number; task: () => void }[] = [];
  constructor(private nowMs = Date.UTC(2026, 0, 1)) {}
  now(): number {
    return this.nowMs;
  }
  monotonicMs(): number {
    return this.nowMs;
  }
  /** The timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.timers.length;
  }
  after(delayMs: number, task: () => void): Timer {
    const timer = { dueMs: this.nowMs + delayMs, task };
    this.timers.push(timer);
    return { cancel: () => void (this.timers = this.timers.filter((other) => other !== timer)) };
  }
  advance(ms: number): void {
    const end = this.nowMs + ms;
    for (;;) {
      const next = this.timers.filter((timer) => timer.dueMs <= end).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.task();
    }
    this.nowMs = end;
  }
}
