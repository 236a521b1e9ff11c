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
  readonly connections: number;
  /** The load ends at this time or this count. */
  readonly seconds: number;
  readonly requestsMax: number;
  /** First value of the counter. */
  readonly from: number;
}

/** Watchers, and one writer that waits while four writes have not reached all of them. */
export interface FanOutJob extends Job {
  readonly type: 'fan-out';
  readonly watch: RequestShape;
  readonly write: RequestShape;
  readonly watchers: number;
  readonly seconds: number;
}

export interface Figures {
  /** Requests, or events received. */
  readonly count: number;
  readonly seconds: number;
  /** Failed answers, broken connections, and events that were lost or duplicated. */
  readonly failed: number;
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
