import type { Status } from '../machinery/api-error.js';
import type { Revision } from '../machinery/revision.js';
import type { Attributes, Rendering } from './encoded-object.js';

export interface WatchRequest {
  /** A key prefix (`/registry/pods/`, `/registry/pods/ns/`) or, with exactKey, one key. */
  readonly scope: string;
  readonly exactKey: boolean;
  /** Sends the state and then changes, or changes after a revision, which may be in the future. */
  readonly start: { readonly kind: 'initial' } | { readonly kind: 'after'; readonly revision: Revision };
  /** The whole selector including `equalities`; undefined if everything matches. */
  readonly matches: ((attributes: Attributes) => boolean) | undefined;
  /** Field requirements of the selector, used if one of the fields is indexed. */
  readonly equalities: readonly { readonly field: string; readonly value: string }[];
  readonly rendering: Rendering;
  readonly bookmarks: boolean;
  /** True if a bookmark marks the end of the initial state. */
  readonly initialEventsEnd: boolean;
}

/** The destination of frames: a socket with a bounded buffer. Nothing is written before subscribe() has returned. */
export interface EventSink {
  /** Accepts the frame in any case. After false, nothing more may be written before Subscription.drained(). */
  write(frame: Buffer): boolean;
  /** Nothing follows. The subscription is closed by then. */
  end(): void;
}

/** Begins a watch whose frames go to `sink`. */
export type Subscribe = (sink: EventSink) => Subscription;

export interface Subscription {
  /** Called when the sink accepts frames again. */
  drained(): void;
  close(): void;
  /** Ends the watch from the server's side, with `status` in an ERROR event if given. */
  end(status?: Status): void;
  /** Everything up to this revision was written; 0 while the initial state is being sent. */
  readonly revision: Revision;
  /** Sends a bookmark, unless the watch has none or lags behind. */
  sendBookmark(): void;
}
