import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { Timer } from '../std/clock.js';
import type { Flow } from './flow.js';
import type { FlowSeries } from './flow-series.js';
import type { WorkEstimate } from './work-estimate.js';

/** The priority level of a request, which releases what the request occupies. */
interface Level {
  readonly name: string;
  readonly limit: number;
  usedMsPerSeat: number;
  charge(request: FlowRequest, seconds: number): void;
  finish(request: FlowRequest, nowMs?: number): void;
  cancel(request: FlowRequest): void;
}

type State = 'new' | 'waiting' | 'executing' | 'lingering' | 'ended';

/**
 * A request in a priority level, from its classification to the release of its seats. All fields are declared in the
 * class, so that its instances have one hidden class in V8.
 */
export class FlowRequest {
  state: State = 'new';
  /** Undefined in levels without queues. */
  queue: RequestQueue | undefined = undefined;
  startMs = 0;
  /** True if many requests of its flow are in progress or held (see PacedConnections). */
  isCrowded = false;
  /** True once its queue was charged with the time that it used. */
  isCharged = false;
  /** Neighbours in the list of waiting or executing requests. */
  previous: FlowRequest | undefined = undefined;
  next: FlowRequest | undefined = undefined;
  /** Set while it waits: called when it leaves its queue. */
  decided: ((executes: boolean) => void) | undefined = undefined;
  timer: Timer | undefined = undefined;
  finalSeats: number;
  lingerMs: number;
  readonly seats: number;
  readonly initialSeats: number;

  constructor(
    readonly flow: Flow,
    readonly level: Level,
    readonly info: RequestInfo,
    readonly user: UserInfo,
    readonly arrivalMs: number,
    { initialSeats, finalSeats, lingerMs }: WorkEstimate,
  ) {
    this.initialSeats = initialSeats;
    this.finalSeats = finalSeats;
    this.lingerMs = lingerMs;
    this.seats = initialSeats > finalSeats ? initialSeats : finalSeats;
  }

  get series(): FlowSeries {
    return this.flow.series;
  }

  /** Ends the execution, or the wait of a request whose client has disconnected. Later calls have no effect. */
  finish(nowMs?: number): void {
    if (this.state === 'executing') this.level.finish(this, nowMs);
    else if (this.state === 'waiting') this.level.cancel(this);
  }
}

/** A list of requests in the order of their arrival, linked through the requests. */
export class RequestList {
  head: FlowRequest | undefined = undefined;
  private tail: FlowRequest | undefined = undefined;
  length = 0;

  add(request: FlowRequest): void {
    request.previous = this.tail;
    request.next = undefined;
    if (this.tail) this.tail.next = request;
    else this.head = request;
    this.tail = request;
    this.length++;
  }

  remove(request: FlowRequest): void {
    const { previous, next } = request;
    if (previous) previous.next = next;
    else this.head = next;
    if (next) next.previous = previous;
    else this.tail = previous;
    request.previous = request.next = undefined;
    this.length--;
  }

  *[Symbol.iterator](): Iterator<FlowRequest> {
    for (let request = this.head; request; request = request.next) yield request;
  }
}

/** One of the queues of a priority level. */
export class RequestQueue {
  readonly waiting = new RequestList();
  executing = 0;
  seatsInUse = 0;
  /** Position of the level's progress meter (see QueueSet) at which its next request begins, in seat-seconds. */
  nextDispatchR = 0;
  /** Sums over the waiting requests. */
  initialSeats = 0;
  maxSeats = 0;
  /** Estimated work in seat-seconds. */
  work = 0;

  constructor(readonly index: number) {}

  get isIdle(): boolean {
    return this.waiting.length === 0 && this.executing === 0;
  }
}
