import type { Clock } from '../std/clock.js';
import type { Flow } from './flow.js';
import type { FlowRequest } from './flow-request.js';
import type { QueueSet } from './queue-set.js';

/** Requests of several flows are dispatched for this time in a turn of the event loop; the others wait for the next. */
const turnMsMax = 0.25;
/** The same for the requests of one flow that still wait when flows no longer compete. */
const soleTurnMsMax = 10;
/** Flows compete if two of them had requests within this time. */
const competitionMs = 1000;

/** The event loop, which tests replace. */
export interface TurnScheduler {
  /** Runs a task when the event loop has read all requests that have arrived. */
  afterReading(task: () => void): void;
  /** Runs a task when all that a resolved promise continues has run, in the same turn. */
  afterContinuations(task: () => void): void;
  /** Sends the responses that are finished. */
  sendFinished(): void;
}

/**
 * Dispatches waiting requests in turns of the event loop. All requests share one thread, so a free seat does not mean
 * that a request is served at once: it waits behind all requests that were read before. While several flows compete, the
 * requests that begin in one turn are bounded by their time, so that the next turn soon reads those of other clients, and
 * the others wait in their queues, where the order is fair.
 *
 * Between priority levels, the one that has used the least time of the event loop by its seats is next.
 */
export class DispatchTurns {
  private readonly ready = new Set<QueueSet>();
  private isScheduled = false;
  private turnBeganMs = 0;
  private isInTurn = false;
  private lastFlow: Flow | undefined = undefined;
  private competesUntilMs = 0;
  private usedMsPerSeat = 0;
  private turnEndMs = 0;
  private isFirst = false;
  /** The last request that was dispatched in this turn, when, and its flow. */
  private dispatched: FlowRequest | undefined = undefined;
  private dispatchedMs = 0;
  /** The time of the last request of this turn. */
  private lastMs = 0;
  private dispatchedFlow: Flow | undefined = undefined;

  constructor(
    private readonly clock: Clock,
    private readonly turns: TurnScheduler,
  ) {}

  /** True if several flows had requests within the last second. */
  competes(nowMs: number): boolean {
    return nowMs < this.competesUntilMs;
  }

  /** Requests that can be dispatched in the next turn. */
  get waiting(): number {
    let waiting = 0;
    for (const level of this.ready) waiting += level.waiting;
    return waiting;
  }

  /** Notes a request of a flow. Returns true if the requests of this turn have used up its time. */
  isOver(flow: Flow, nowMs: number): boolean {
    const last = this.lastFlow;
    if (flow !== last) {
      if (last && !flow.isSame(last)) this.competesUntilMs = nowMs + competitionMs;
      this.lastFlow = flow;
    }
    if (nowMs >= this.competesUntilMs) return false;
    if (!this.isInTurn) {
      this.isInTurn = true;
      this.turnBeganMs = nowMs;
      if (!this.isScheduled) this.turns.afterReading(this.endTurn);
      return false;
    }
    return nowMs - this.turnBeganMs >= turnMsMax;
  }

  /** Dispatches waiting requests of a level in the next turn. */
  schedule(level: QueueSet): void {
    if (!this.ready.has(level)) {
      // A level that had no requests does not catch up on the time that it has not used.
      level.usedMsPerSeat = Math.max(level.usedMsPerSeat, this.usedMsPerSeat);
      this.ready.add(level);
    }
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.turns.afterReading(this.beginTurn);
  }

  private readonly endTurn = (): void => {
    this.isInTurn = false;
  };

  private readonly beginTurn = (): void => {
    // Responses of requests that began while sockets were read do not wait for those of this turn.
    if (this.clock.monotonicMs() < this.competesUntilMs) this.turns.sendFinished();
    this.turnBeganMs = this.dispatchedMs = this.clock.monotonicMs();
    // Without competition, mostly all of them: requests that are read afterwards then need not wait.
    this.turnEndMs = this.turnBeganMs + (this.turnBeganMs < this.competesUntilMs ? turnMsMax : soleTurnMsMax);
    this.isFirst = true;
    this.lastMs = 0;
    this.dispatchOne();
  };

  private dispatchOne(): void {
    // Another request that takes as long as the last one may exceed the time of the turn by half of it.
    const isOver = this.dispatchedMs + this.lastMs / 2 >= this.turnEndMs;
    const request = isOver ? undefined : this.dispatchNext(this.dispatchedMs);
    if (!request) return this.finishTurn();
    this.dispatched = request;
    this.turns.afterContinuations(this.dispatchMore);
  }

  /** Charges the last dispatched request with its time, and dispatches the next one. */
  private readonly dispatchMore = (): void => {
    const now = this.clock.monotonicMs();
    const request = this.dispatched!;
    const { level, flow } = request;
    this.lastMs = now - this.dispatchedMs;
    const measured = this.lastMs / 1000;
    const seconds = request.initialSeats > 1 ? measured : flow.chargedSeconds(measured);
    level.usedMsPerSeat += (seconds * 1000) / Math.max(1, level.limit);
    if (!request.isCharged) level.charge(request, seconds);
    this.dispatchedMs = now;
    // The first request may be the only one of its flow: its response does not wait for the rest of the turn.
    if (this.isFirst && !this.dispatchedFlow?.isSame(flow)) {
      this.turns.sendFinished();
      this.dispatchedMs = this.clock.monotonicMs();
    }
    this.isFirst = false;
    this.dispatchedFlow = flow;
    this.dispatchOne();
  };

  private finishTurn(): void {
    this.turns.sendFinished();
    this.dispatched = undefined;
    this.isInTurn = false;
    this.isScheduled = this.ready.size > 0;
    if (this.isScheduled) this.turns.afterReading(this.beginTurn);
  }

  /** Dispatches a request of the level that has used the least time. */
  private dispatchNext(nowMs: number): FlowRequest | undefined {
    for (;;) {
      let next: QueueSet | undefined;
      for (const level of this.ready) if (!next || level.usedMsPerSeat < next.usedMsPerSeat) next = level;
      if (!next) return undefined;
      this.usedMsPerSeat = Math.max(this.usedMsPerSeat, next.usedMsPerSeat);
      const request = next.dispatch(nowMs);
      // A level without free seats is scheduled again when seats are released.
      if (!request || next.waiting === 0) this.ready.delete(next);
      if (request) return request;
    }
  }
}
