import type { Target } from './http1-connection.js';
import type { RequestShape } from './requests.js';

// What the generator is asked for and what it answers, between two processes.

interface Job {
  readonly target: Target;
  /** Not counted: connections are opened, and both sides compile what they run. */
  readonly warmUpMs: number;
}

/** Connections that each send the next request when they have the answer to the last. */
export interface LoadJob extends Job {
  readonly type: 'load';
  readonly request: RequestShape;
  readonly connections: number;
  /** Whichever comes first. */
  readonly seconds: number;
  readonly requestsMax: number;
  /** The first value of the counter. */
  readonly from: number;
}

/** Watchers, and one client that writes while at most four writes have not reached all of them. */
export interface FanOutJob extends Job {
  readonly type: 'fan-out';
  readonly watch: RequestShape;
  readonly write: RequestShape;
  readonly watchers: number;
  readonly seconds: number;
}

export interface Figures {
  /** Requests, or events that have arrived. */
  readonly count: number;
  readonly seconds: number;
  /** Answers that were no success, connections that broke, events that never came or came twice. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The next free value of the counter. */
  readonly next: number;
}

export type ToGenerator = LoadJob | FanOutJob | { readonly type: 'go' };
export type FromGenerator =
  | { readonly type: 'warm' }
  | { readonly type: 'done'; readonly figures: Figures }
  | { readonly type: 'error'; readonly message: string };
