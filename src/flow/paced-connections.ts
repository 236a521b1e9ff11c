import type { Clock } from '../std/clock.js';
import type { TurnScheduler } from './dispatch-turns.js';
import type { Flow } from './flow.js';
import type { FlowRequest } from './flow-request.js';

/** A connection of HTTP/1.1, as Node's socket. */
interface PacedConnection {
  readonly destroyed: boolean;
  pause(): unknown;
  resume(): unknown;
}

/** The load of the event loop, which DispatchTurns knows. */
interface Load {
  /** Requests that can be dispatched in the next turn. */
  readonly waiting: number;
  /** True if several flows had requests lately. */
  competes(nowMs: number): boolean;
}

/** A flow with as many requests in one queue, or as many paced connections, is crowded; so is one with a rejected request. */
const crowdMin = 4;
/** No connection is read while as many requests wait, unless it has not been read for `heldMsMax`. */
const waitingMax = 4;
const heldMsMax = 50;

export interface PacedRequest {
  /** Stops reading until the response, of a request without a body that leaves its queue. */
  began(): void;
  /** Called after the response. */
  ended(): void;
}

interface Held {
  /** Reads the connection, or handles the request of an HTTP/2 stream. */
  readonly resume: () => void;
  readonly sinceMs: number;
}

/** The connections and HTTP/2 streams of a crowded flow. */
class Crowd {
  /** Connections with a request in progress, and held ones. */
  count = 0;
  private held: Held[] = [];
  private first = 0;

  constructor(public flow: Flow) {}

  get oldest(): Held | undefined {
    return this.held[this.first];
  }

  hold(held: Held): void {
    this.held.push(held);
  }

  removeOldest(): void {
    this.first++;
    this.count--;
    if (this.first * 2 < this.held.length) return;
    this.held = this.held.slice(this.first);
    this.first = 0;
  }
}

/**
 * Reads the connections of a crowded flow one after the other, while other flows compete with it. Node reads all sockets
 * that have data before it does anything else: 200 clients that send at the same time take the event loop for 200
 * requests, and all their requests are in memory. So a connection of a crowded flow is not read after its response, until
 * it is its turn; what the client sends meanwhile waits in the kernel.
 *
 * An HTTP/2 session has to be read for all its streams, also those of watches. Its new requests wait until it is their
 * turn, before they are authenticated or routed.
 */
export class PacedConnections {
  private readonly crowds = new Map<string, Crowd>();
  /** Crowds of HTTP/2 sessions, by the last request of each. */
  private readonly crowdsOfSessions = new WeakMap<object, Crowd>();
  private isScheduled = false;
  private isStopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly turns: Pick<TurnScheduler, 'afterReading'>,
    private readonly load: Load,
  ) {}

  /** Notes a classified request over HTTP/1.1. Returns undefined if its flow is not crowded. */
  pace(request: FlowRequest, connection: PacedConnection): PacedRequest | undefined {
    const crowd = this.crowdFor(request);
    if (!crowd) return undefined;
    crowd.count++;
    return {
      began: () => void connection.pause(),
      ended: () => this.hold(connection, crowd),
    };
  }

  /** The same for a request over HTTP/2: holds() is true for the next ones of the session if the flow is crowded. */
  paceStream(request: FlowRequest, session: object): PacedRequest | undefined {
    const crowd = this.crowdFor(request);
    if (!crowd) {
      if (this.crowds.size > 0) this.crowdsOfSessions.delete(session);
      return undefined;
    }
    this.crowdsOfSessions.set(session, crowd);
    crowd.count++;
    return { began: () => undefined, ended: () => this.leave(crowd) };
  }

  /** Returns true if a new request over HTTP/2 is held: `handle` is called when it is its turn. */
  holds(session: object, stream: { readonly destroyed: boolean }, handle: () => void): boolean {
    if (this.crowds.size === 0) return false;
    const crowd = this.crowdsOfSessions.get(session);
    if (!crowd || this.crowds.get(crowd.flow.key) !== crowd) return false;
    const nowMs = this.clock.monotonicMs();
    if (!this.load.competes(nowMs)) return false;
    crowd.count++;
    const resume = () => {
      if (!stream.destroyed) handle();
    };
    crowd.hold({ resume, sinceMs: nowMs });
    this.schedule();
    return true;
  }

  /** Reads all connections again, and paces none from now on: the server stops. */
  stop(): void {
    this.isStopped = true;
    for (const crowd of this.crowds.values()) {
      for (let oldest = crowd.oldest; oldest; oldest = crowd.oldest) {
        crowd.removeOldest();
        oldest.resume();
      }
    }
    this.crowds.clear();
  }

  private crowdFor({ state, queue, flow, arrivalMs }: FlowRequest): Crowd | undefined {
    if (this.isStopped || !this.load.competes(arrivalMs)) return undefined;
    const isBeyondShare = state === 'ended' || (queue !== undefined && queue.waiting.length >= crowdMin);
    if (!isBeyondShare && !this.isCrowded(flow)) return undefined;
    let crowd = this.crowds.get(flow.key);
    if (!crowd) this.crowds.set(flow.key, (crowd = new Crowd(flow)));
    // The connections of a user with certificates have flow objects of their own.
    crowd.flow = flow;
    return crowd;
  }

  /** True if several connections or streams of the flow are paced. */
  isCrowded(flow: Flow): boolean {
    return this.crowds.size > 0 && (this.crowds.get(flow.key)?.count ?? 0) >= crowdMin;
  }

  private hold(connection: PacedConnection, crowd: Crowd): void {
    if (connection.destroyed || this.isStopped) {
      connection.resume();
      return this.leave(crowd);
    }
    connection.pause();
    crowd.hold({ resume: () => connection.resume(), sinceMs: this.clock.monotonicMs() });
    this.schedule();
  }

  private leave(crowd: Crowd): void {
    crowd.count--;
    if (crowd.count === 0 && this.crowds.get(crowd.flow.key) === crowd) this.crowds.delete(crowd.flow.key);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.turns.afterReading(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    const nowMs = this.clock.monotonicMs();
    const competes = this.load.competes(nowMs);
    const isFull = competes && this.load.waiting >= waitingMax;
    let isHolding = false;
    for (const [key, crowd] of this.crowds) {
      // One is read and one is dispatched in a turn, which takes about 0.1 ms for a GET.
      let left = competes ? 1 : Infinity;
      for (let oldest = crowd.oldest; oldest && left > 0; oldest = crowd.oldest) {
        if (isFull && nowMs - oldest.sinceMs < heldMsMax) break;
        left--;
        crowd.removeOldest();
        oldest.resume();
      }
      if (crowd.oldest) isHolding = true;
      else if (crowd.count === 0) this.crowds.delete(key);
    }
    if (isHolding) this.schedule();
  };
}
