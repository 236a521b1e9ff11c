import type { Clock } from '../std/clock.js';
import { RequestList, RequestQueue, type FlowRequest } from './flow-request.js';
import type { RejectionReason } from './flow-series.js';
import { RatioHistogram } from './ratio-histogram.js';
import type { ReadsAndWrites } from './reads-and-writes.js';
import { SeatDemand } from './seat-demand.js';

/** `queues` is 0 if the level rejects instead of queueing, -1 if it is exempt. */
export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Bounds on the seats of a level: configured, and those in force. */
interface SeatLimits {
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
}

/** Called when requests wait that may be dispatched. */
export type DispatchLater = () => void;

/** The estimated duration of every request, as in kube-apiserver. */
const serviceSeconds = 0.003;
/** Work by which a queue may be ahead of the progress meter, so that it is not starved after a long request. */
const aheadMax = 0.1;
/**
 * Work by which a queue that begins to be used may be ahead without waiting: that of a turn of the event loop (see
 * DispatchTurns). So a client with one request at a time is served in each turn. Its share would be smaller otherwise,
 * since a flow with many requests uses all queues of its hand.
 */
const graceSeconds = 0.00025;

const requestBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const seatBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

/**
 * The queues and seats of one priority level. Requests wait in queues, and the queue that has had the least work is
 * served first (start-time fair queueing). The progress meter R is the start tag of the request that was dispatched
 * last, in seat-seconds. kube-apiserver advances it with the clock, by the number of seats; on one event loop that would
 * overestimate the progress, and the queues would be served in the order of arrival (ADR 044).
 */
export class QueueSet {
  readonly queues: RequestQueue[] = [];
  /** Executing requests, of all queues. */
  readonly running = new RequestList();
  limits: SeatLimits = { nominal: 0, lower: 0, upper: 0 };
  /** The limit in force, after lending and borrowing. */
  limit = 0;
  waiting = 0;
  waitingSeats = 0;
  seatsInUse = 0;
  dispatched = 0;
  rejected = 0;
  cancelled = 0;
  currentR = 0;
  /** Time that its requests have used the event loop, divided by the seats of the level (see DispatchTurns). */
  usedMsPerSeat = 0;
  isQuiescing = false;
  readonly demand: SeatDemand;
  readonly executingRatio: RatioHistogram;
  readonly waitingRatio: RatioHistogram;
  readonly seatRatio: RatioHistogram;
  readonly demandRatio: RatioHistogram;
  /** R and start tag of the last dispatch from a queue, and the bounds of tags then. */
  lastDispatch: DispatchTags | undefined = undefined;
  private arrivals = 0;
  private robin = 0;

  constructor(
    readonly name: string,
    private deck: Queuing,
    private readonly clock: Clock,
    private readonly dispatchLater: DispatchLater,
    private readonly readsAndWrites: ReadsAndWrites,
  ) {
    const now = clock.monotonicMs();
    this.demand = new SeatDemand(now);
    this.executingRatio = new RatioHistogram(requestBounds, now);
    this.waitingRatio = new RatioHistogram(requestBounds, now);
    this.seatRatio = new RatioHistogram(seatBounds, now);
    this.demandRatio = new RatioHistogram(demandBounds, now);
    this.configure(deck);
  }

  get queuing(): Queuing {
    return this.deck;
  }
  get isExempt(): boolean {
    return this.deck.queues < 0;
  }
  get isIdle(): boolean {
    return this.waiting === 0 && this.running.length === 0;
  }

  /** Applies a configuration. Surplus queues are removed when they are idle. */
  configure(deck: Queuing): void {
    const { deck: old } = this;
    const isSame =
      deck.queues === old.queues && deck.handSize === old.handSize && deck.queueLengthLimit === old.queueLengthLimit;
    if (!isSame) this.deck = deck;
    while (this.queues.length < deck.queues) this.queues.push(new RequestQueue(this.queues.length));
    this.removeSurplus();
    const capacity = Math.max(1, deck.queueLengthLimit) * Math.max(1, deck.queues);
    this.waitingRatio.setLimit(capacity, this.clock.monotonicMs());
  }

  setLimit(limit: number): void {
    this.limit = limit;
    const now = this.clock.monotonicMs();
    const denominator = Math.max(1, limit);
    for (const ratio of [this.executingRatio, this.seatRatio, this.demandRatio]) ratio.setLimit(denominator, now);
    if (this.waiting > 0) this.dispatchLater();
  }

  /**
   * Dispatches the request, enqueues it, or returns the reason of its rejection. With `defers`, requests wait for their
   * turn even if seats are free.
   */
  admit(request: FlowRequest, nowMs: number, defers: boolean): RejectionReason | undefined {
    const { deck } = this;
    if (deck.queues < 1) {
      if (!this.accommodates(request)) return this.reject(request, 'concurrency-limit');
      this.begin(request, nowMs);
      return undefined;
    }
    const queue = this.queueFor(request);
    const demanded = defers ? this.seatsInUse + this.waitingSeats : this.seatsInUse;
    if (demanded >= this.limit && queue.waiting.length >= deck.queueLengthLimit)
      return this.reject(request, 'queue-full');
    request.queue = queue;
    if (queue.isIdle) {
      const r = this.progress();
      queue.nextDispatchR = Math.min(Math.max(queue.nextDispatchR - graceSeconds, r), r + aheadMax);
    }
    if (!defers && this.waiting === 0 && this.seatsInUse < this.limit && this.accommodates(request)) {
      request.series.enqueued(1);
      this.robin = queue.index;
      this.advance(queue, request);
      this.begin(request, nowMs);
      return undefined;
    }
    this.enqueue(queue, request, nowMs);
    this.dispatchLater();
    return undefined;
  }

  /** Dispatches the next request if enough seats are free. */
  dispatch(nowMs: number): FlowRequest | undefined {
    if (this.waiting === 0 || this.seatsInUse >= this.limit) return undefined;
    const { queue, tags } = this.nextQueue();
    const request = queue.waiting.head!;
    if (!this.accommodates(request)) {
      request.series.unaccommodated++;
      return undefined;
    }
    this.robin = queue.index;
    this.dequeue(queue, request, nowMs);
    // More final seats than there are: fewer, for a longer time.
    if (request.finalSeats > this.limit && this.limit > 0) {
      request.lingerMs *= request.finalSeats / this.limit;
      request.finalSeats = this.limit;
    }
    this.lastDispatch = { ...tags, r: this.currentR, start: queue.nextDispatchR };
    this.advance(queue, request);
    this.begin(request, nowMs);
    const { decided } = request;
    request.decided = undefined;
    decided!(true);
    return request;
  }

  /** Ends the execution of a request. Its final seats are released after the time for which watchers are served. */
  finish(request: FlowRequest, now = this.clock.monotonicMs()): void {
    const { queue, series } = request;
    const seconds = (now - request.startMs) / 1000;
    this.running.remove(request);
    series.executing--;
    series.executed(seconds, request.info.verb === 'watch');
    this.executingRatio.set(this.running.length, now);
    this.readsAndWrites.executing(request.info, -1, now);
    if (queue) queue.executing--;
    // Its time on the event loop was not measured, and most of its duration can be that of the store or of others.
    if (!request.isCharged) this.charge(request, Math.min(seconds, request.flow.usualSeconds || serviceSeconds));
    if (request.lingerMs > 0) {
      request.state = 'lingering';
      request.timer = this.clock.after(request.lingerMs, () => this.release(request, this.clock.monotonicMs()));
    } else this.release(request, now);
  }

  /** Replaces the estimated time of a request by the time that it has used the event loop. */
  charge(request: FlowRequest, seconds: number): void {
    request.isCharged = true;
    const { queue } = request;
    if (!queue) return;
    const corrected = queue.nextDispatchR - request.initialSeats * (serviceSeconds - seconds);
    queue.nextDispatchR = Math.min(Math.max(corrected, 0), this.currentR + aheadMax);
  }

  /** Removes a request from its queue: it has waited too long, or its client has disconnected. */
  cancel(request: FlowRequest): void {
    const now = this.clock.monotonicMs();
    this.dequeue(request.queue!, request, now);
    request.state = 'ended';
    this.rejected++;
    this.cancelled++;
    request.series.reject('time-out');
    request.series.waited((now - request.arrivalMs) / 1000, false);
    this.removeSurplus();
    const { decided } = request;
    request.decided = undefined;
    decided?.(false);
  }

  /** Brings the histograms over time up to date. */
  fold(nowMs: number): void {
    for (const ratio of [this.executingRatio, this.waitingRatio, this.seatRatio, this.demandRatio]) ratio.fold(nowMs);
  }

  private reject(request: FlowRequest, reason: RejectionReason): RejectionReason {
    this.rejected++;
    request.state = 'ended';
    request.series.reject(reason);
    request.series.waited(0, false);
    return reason;
  }

  /** Chooses the queue of the flow's hand with the least work. Starts at another card each time, so that ties rotate. */
  private queueFor(request: FlowRequest): RequestQueue {
    const hand = request.flow.handOf(this.deck);
    const offset = this.arrivals++ % hand.length;
    let best = this.queues[hand[offset]!]!;
    if (this.waiting === 0) return best;
    for (let step = 1; step < hand.length; step++) {
      const queue = this.queues[hand[(offset + step) % hand.length]!]!;
      if (queue.work < best.work) best = queue;
    }
    return best;
  }

  private enqueue(queue: RequestQueue, request: FlowRequest, nowMs: number): void {
    request.state = 'waiting';
    queue.waiting.add(request);
    queue.initialSeats += request.initialSeats;
    queue.maxSeats += request.seats;
    queue.work += workOf(request);
    this.waiting++;
    this.waitingSeats += request.seats;
    request.series.waiting++;
    request.series.waitingSeats += request.seats;
    request.series.enqueued(queue.waiting.length);
    this.readsAndWrites.waiting(request.info, 1, nowMs);
    this.waitingRatio.set(this.waiting, nowMs);
    this.noteDemand(nowMs);
  }

  private dequeue(queue: RequestQueue, request: FlowRequest, nowMs: number): void {
    queue.waiting.remove(request);
    request.timer?.cancel();
    request.timer = undefined;
    queue.initialSeats -= request.initialSeats;
    queue.maxSeats -= request.seats;
    queue.work = queue.waiting.length === 0 ? 0 : queue.work - workOf(request);
    this.waiting--;
    this.waitingSeats -= request.seats;
    request.series.waiting--;
    request.series.waitingSeats -= request.seats;
    this.readsAndWrites.waiting(request.info, -1, nowMs);
    this.waitingRatio.set(this.waiting, nowMs);
    this.noteDemand(nowMs);
  }

  /** Moves the progress meter to a request that is dispatched, and its queue behind it. */
  private advance(queue: RequestQueue, request: FlowRequest): void {
    this.currentR = queue.nextDispatchR;
    queue.nextDispatchR += workOf(request);
  }

  /** The position of a queue that begins to be used: that of the queue that is next, so that none is before it. */
  private progress(): number {
    if (this.waiting === 0) return this.currentR;
    let least = Infinity;
    for (const { waiting, nextDispatchR } of this.queues) {
      if (waiting.length > 0 && nextDispatchR < least) least = nextDispatchR;
    }
    return least;
  }

  private begin(request: FlowRequest, nowMs: number): void {
    const { queue, series, seats } = request;
    request.state = 'executing';
    request.startMs = nowMs;
    this.running.add(request);
    if (queue) {
      queue.executing++;
      queue.seatsInUse += seats;
    }
    this.seatsInUse += seats;
    this.dispatched++;
    series.dispatched++;
    series.executing++;
    series.executingSeats += seats;
    if (this.deck.queues >= 0) series.waited((nowMs - request.arrivalMs) / 1000, true);
    this.executingRatio.set(this.running.length, nowMs);
    this.readsAndWrites.executing(request.info, 1, nowMs);
    this.seatRatio.set(this.seatsInUse, nowMs);
    this.noteDemand(nowMs);
  }

  private release(request: FlowRequest, nowMs: number): void {
    const { queue, seats } = request;
    request.state = 'ended';
    request.timer = undefined;
    this.seatsInUse -= seats;
    request.series.executingSeats -= seats;
    if (queue) queue.seatsInUse -= seats;
    this.seatRatio.set(this.seatsInUse, nowMs);
    this.noteDemand(nowMs);
    if (this.queues.length > this.deck.queues) this.removeSurplus();
    if (this.waiting > 0) this.dispatchLater();
  }

  private noteDemand(nowMs: number): void {
    const seats = this.seatsInUse + this.waitingSeats;
    this.demand.set(seats, nowMs);
    this.demandRatio.set(seats, nowMs);
  }

  /** A request that needs more seats than the level has is dispatched if no other one executes. */
  private accommodates({ seats }: FlowRequest): boolean {
    if (this.deck.queues < 0) return true;
    if (seats > this.limit) return this.running.length === 0;
    return this.seatsInUse + seats <= this.limit;
  }

  /**
   * Finds the queue that has had the least work. Of equal ones, one with a request of a flow that is not crowded; then the
   * one with the smallest request; then in turn.
   */
  private nextQueue(): { readonly queue: RequestQueue; readonly tags: TagBounds } {
    const { queues } = this;
    let best: RequestQueue | undefined;
    let bestStart = Infinity;
    let bestWork = Infinity;
    const tags = { startMin: Infinity, startMax: 0, discountedMin: Infinity, discountedMax: 0 };
    for (let step = 1; step <= queues.length; step++) {
      const queue = queues[(this.robin + step) % queues.length]!;
      const oldest = queue.waiting.head;
      if (!oldest) continue;
      const start = queue.nextDispatchR;
      const discounted = start - queue.seatsInUse * serviceSeconds;
      tags.startMin = Math.min(tags.startMin, start);
      tags.startMax = Math.max(tags.startMax, start);
      tags.discountedMin = Math.min(tags.discountedMin, discounted);
      tags.discountedMax = Math.max(tags.discountedMax, discounted);
      // The few requests of a crowded flow that are read in a turn find idle queues, as those of other flows do.
      const work = oldest.isCrowded ? crowdedWork : workOf(oldest);
      if (start > bestStart || (start === bestStart && work >= bestWork)) continue;
      bestStart = start;
      bestWork = work;
      best = queue;
    }
    return { queue: best!, tags };
  }

  /** Removes surplus queues from the end, so that the others keep their index. */
  private removeSurplus(): void {
    const { queues } = this;
    const wanted = Math.max(0, this.deck.queues);
    while (queues.length > wanted && queues.at(-1)!.isIdle && queues.at(-1)!.seatsInUse === 0) queues.pop();
  }
}

/** More than the work of any request. */
const crowdedWork = Number.MAX_VALUE;

interface TagBounds {
  readonly startMin: number;
  readonly startMax: number;
  readonly discountedMin: number;
  readonly discountedMax: number;
}

interface DispatchTags extends TagBounds {
  readonly r: number;
  readonly start: number;
}

/** Estimated work in seat-seconds: of the request, and of the watchers that it concerns. */
function workOf({ initialSeats, finalSeats, lingerMs }: FlowRequest): number {
  return initialSeats * serviceSeconds + (finalSeats * lingerMs) / 1000;
}
