import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import type { Clock, Timer } from '../../std/clock.js';
import type { Cancellation } from '../../std/cancellation.js';

interface WriteTurnLimits {
  /** Writers that may wait for one object; further writers get 429. */
  readonly waitingMax: number;
  /** After this time the next writer starts, even if the current one has not finished. */
  readonly turnMsMax: number;
}

interface Waiter {
  readonly start: (turn: WriteTurn) => void;
}

/** The turn of one writer to update an object, before other writers of this process. */
export class WriteTurn {
  /** Waiting writers in order of arrival; created for the first one. */
  waiting: Set<Waiter> | undefined = undefined;
  timer: Timer | undefined = undefined;

  constructor(
    private readonly turns: WriteTurns,
    readonly key: string,
    readonly startMs: number,
    /** The object as the previous writer left it, which the cache may not hold yet. */
    readonly latest: EncodedObject | undefined,
  ) {}

  /** True if it has lasted so long that another writer has started. */
  get isPassed(): boolean {
    return !this.turns.isCurrent(this);
  }

  /** Ends the turn and starts the next writer with the written object. */
  leave(written: EncodedObject | undefined): void {
    this.turns.pass(this, written ?? this.latest);
  }
}

/**
 * Orders concurrent updates of one object by writers of this process, first come first served. Without it all would
 * start from the same state and all but one would conflict and retry. An uncontended writer does not wait. Only an
 * optimization: the compare-and-set of the store decides, and other servers take no part.
 *
 *   first writer --> turn --leave, or turnMsMax--> next turn --> ...
 */
export class WriteTurns {
  private readonly current = new Map<string, WriteTurn>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: WriteTurnLimits,
  ) {}

  /** Returns the turn at once if the object has no other writer; otherwise a promise that resolves when it is due. */
  take(key: string, signal: Cancellation | undefined): WriteTurn | Promise<WriteTurn> {
    const before = this.current.get(key);
    if (before) return this.waitFor(before, signal);
    const turn = new WriteTurn(this, key, this.clock.monotonicMs(), undefined);
    this.current.set(key, turn);
    return turn;
  }

  isCurrent(turn: WriteTurn): boolean {
    return this.current.get(turn.key) === turn;
  }

  /** Called by WriteTurn only. A turn that has timed out was passed to the next writer before. */
  pass(turn: WriteTurn, latest: EncodedObject | undefined): void {
    if (!this.isCurrent(turn)) return;
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

  private waitFor(turn: WriteTurn, signal: Cancellation | undefined): Promise<WriteTurn> {
    const waiting = (turn.waiting ??= new Set());
    if (waiting.size >= this.limits.waitingMax) {
      const message = 'too many requests are waiting to change this object; please try again later';
      return Promise.reject(ApiError.tooManyRequests(message, 1));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const left = () => {
        waiting.delete(waiter);
        reject(signal!.reason);
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

  /** Limits the time of a turn only while other writers wait. */
  private limitTime(turn: WriteTurn): void {
    if (turn.timer || !turn.waiting || turn.waiting.size === 0) return;
    const leftMs = turn.startMs + this.limits.turnMsMax - this.clock.monotonicMs();
    turn.timer = this.clock.after(Math.max(0, leftMs), () => this.pass(turn, turn.latest));
  }
}
