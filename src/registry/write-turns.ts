import type { EncodedObject } from '../cache/encoded-object.js';
import { ApiError } from '../machinery/api-error.js';
import type { Clock, Timer } from '../std/clock.js';

export interface WriteTurnLimits {
  /** Writers that may wait for one object; beyond, 429. */
  readonly waitingMax: number;
  /** After this time the next writer starts, although the one before it is still at work. */
  readonly turnMsMax: number;
}

interface Waiter {
  readonly start: (turn: WriteTurn) => void;
}

/** The right to write one object before others of this process. */
export class WriteTurn {
  /** Writers that come after, in order; made for the first one. */
  waiting: Set<Waiter> | undefined = undefined;
  timer: Timer | undefined = undefined;

  constructor(
    private readonly turns: WriteTurns,
    readonly key: string,
    readonly startMs: number,
    /** The object as the writer before left it, which the cache may not have seen yet. */
    readonly latest: EncodedObject | undefined,
  ) {}

  /** Lets the next writer start, from what was written. */
  leave(written: EncodedObject | undefined): void {
    this.turns.pass(this, written ?? this.latest);
  }
}

/**
 * Writers of one object, one after the other and in the order in which they came, where each would otherwise start from
 * the same state and all but one would have to start again. A writer of an object that nobody else writes does not
 * wait. Correctness does not depend on it: the store compares revisions, and other servers do not take part.
 *
 *   first writer --> turn --leave, or turnMsMax--> turn of the next --> ...
 */
export class WriteTurns {
  private readonly current = new Map<string, WriteTurn>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: WriteTurnLimits,
  ) {}

  /** The turn itself where nobody else writes the object; otherwise it comes when the writers before have left. */
  take(key: string, signal: AbortSignal | undefined): WriteTurn | Promise<WriteTurn> {
    const before = this.current.get(key);
    if (before) return this.waitFor(before, signal);
    const turn = new WriteTurn(this, key, this.clock.monotonicMs(), undefined);
    this.current.set(key, turn);
    return turn;
  }

  /** For turns alone. One that was overtaken has nothing to pass on. */
  pass(turn: WriteTurn, latest: EncodedObject | undefined): void {
    if (this.current.get(turn.key) !== turn) return;
    turn.timer?.cancel();
    const { waiting } = turn;
    const [next] = waiting ?? [];
    if (!waiting || !next) {
      this.current.delete(turn.key);
      return;
    }
    waiting.delete(next);
    const following = new WriteTurn(this, turn.key, this.clock.monotonicMs(), latest);
    following.waiting = waiting;
    this.current.set(turn.key, following);
    this.limitTime(following);
    next.start(following);
  }

  private waitFor(turn: WriteTurn, signal: AbortSignal | undefined): Promise<WriteTurn> {
    const waiting = (turn.waiting ??= new Set());
    if (waiting.size >= this.limits.waitingMax) {
      const message = 'too many requests are waiting to change this object; please try again later';
      return Promise.reject(ApiError.tooManyRequests(message, 1));
    }
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const left = () => {
        waiting.delete(waiter);
        reject(signal!.reason as Error);
      };
      const waiter: Waiter = {
        start(next) {
          signal?.removeEventListener('abort', left);
          resolve(next);
        },
      };
      signal?.addEventListener('abort', left, { once: true });
      waiting.add(waiter);
      this.limitTime(turn);
    });
  }

  /** A turn is limited only while somebody waits for it. */
  private limitTime(turn: WriteTurn): void {
    if (turn.timer || !turn.waiting || turn.waiting.size === 0) return;
    const leftMs = turn.startMs + this.limits.turnMsMax - this.clock.monotonicMs();
    turn.timer = this.clock.after(Math.max(0, leftMs), () => this.pass(turn, turn.latest));
  }
}
