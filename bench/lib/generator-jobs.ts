import type { Target } from './http1-connection.js';
import type { RequestShape } from './requests.js';

// Messages between the load generator's process and its driver.

interface Job {
  readonly target: Target;
  /** Warm-up before the measurement: connections are opened, and both sides compile their code. */
  readonly warmUpMs: number;
}

/** Connections that each send the next request after the answer to the last one. */
export interface LoadJob extends Job {
  readonly type: 'load';
  readonly request: RequestShape;
  /** HTTP/1.1 connections, or streams at the same time of HTTP/2 sessions. */
  readonly connections: number;
  readonly http2Sessions?: number;
  /** The load ends at this time or this count. */
  readonly seconds: number;
  readonly requestsMax: number;
  /** First value of the counter. */
  readonly from: number;
}

/**
 * Watchers, and writers that each repeat a request of their own. A writer waits while as many writes as there are writers
 * have not reached all watchers. With `perSecond` they write at that pace instead.
 */
export interface FanOutJob extends Job {
  readonly type: 'fan-out';
  readonly watch: RequestShape;
  readonly writes: readonly RequestShape[];
  readonly watchers: number;
  readonly seconds: number;
  readonly perSecond?: number;
}

export interface Figures {
  /** Requests, or events received. */
  readonly count: number;
  readonly seconds: number;
  /** Failed answers, broken connections, and events that were lost or duplicated. */
  readonly failed: number;
  /** Time to the answer; of events, from the sending of their write. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Next unused value of the counter. */
  readonly next: number;
}

export type ToGenerator = LoadJob | FanOutJob | { readonly type: 'go' };
export type FromGenerator =
  | { readonly type: 'warm' }
  | { readonly type: 'done'; readonly figures: Figures }
  | { readonly type: 'error'; readonly message: string };
