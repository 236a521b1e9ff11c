import type { Revision } from '../machinery/revision.js';
import type { Attributes, Rendering } from './encoded-object.js';

export interface WatchRequest {
  /** A key prefix (`/registry/pods/`, `/registry/pods/ns/`) or, with exactKey, one key. */
  readonly scope: string;
  readonly exactKey: boolean;
  /** All that there is, then changes; or changes after a revision, which may lie in the future. */
  readonly start: { readonly kind: 'initial' } | { readonly kind: 'after'; readonly revision: Revision };
  /** The whole selector, those of `equalities` included; undefined when everything matches. */
  readonly matches: ((attributes: Attributes) => boolean) | undefined;
  /** What the selector asks of single fields: a hint, used when one of them is indexed. */
  readonly equalities: readonly { readonly field: string; readonly value: string }[];
  readonly rendering: Rendering;
  readonly bookmarks: boolean;
  /** Whether a bookmark ends the initial state. */
  readonly initialEventsEnd: boolean;
}

/** Where frames go: a socket with a bounded buffer. Nothing is written before subscribe() has returned. */
export interface EventSink {
  /** Takes the frame in any case. False: write nothing more before Subscription.drained(). */
  write(frame: Buffer): boolean;
  /** Nothing follows. The subscription is closed by then. */
  end(): void;
}

export interface Subscription {
  /** The sink takes frames again. */
  drained(): void;
  close(): void;
  /** Everything up to this revision that the watch asked for was written; 0 while the initial state is being sent. */
  readonly revision: Revision;
  /** Tells the client how far it is. Does nothing for a watch without bookmarks or one that lags behind. */
  sendBookmark(): void;
}
