import type { ForwardTarget } from './forward-target.js';

/** A request of a user for a Pod, Service or node, forwarded with its path below `proxy`. */
export interface ProxyPlan {
  readonly type: 'proxy';
  readonly target: ForwardTarget;
  /** Decoded; with a leading slash, or empty. */
  readonly path: string;
}

/** An upgraded connection to a kubelet (exec, attach, portforward). */
export interface StreamPlan {
  readonly type: 'stream';
  readonly target: ForwardTarget;
  /** An escaped path with its query. */
  readonly path: string;
  readonly subresource: 'exec' | 'attach' | 'portforward';
}

/** Text of a kubelet (log). */
export interface LogPlan {
  readonly type: 'log';
  readonly target: ForwardTarget;
  /** An escaped path with its query. */
  readonly path: string;
  readonly podName: string;
}

/** The server that answers a request, and what it is asked for. */
export type ForwardPlan = ProxyPlan | StreamPlan | LogPlan;
