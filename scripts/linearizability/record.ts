import type { Intent, Version } from './write-model.js';

/** Begin and end of a call by a counter: a call that ended before another began came before it. */
export interface Span {
  readonly began: number;
  readonly ended: number;
}

export interface WriteCall extends Span {
  /** The string that this write puts into the object. */
  readonly mark: string;
  readonly key: string;
  readonly intent: Intent;
  /** Preconditions of the request. */
  readonly expects: { readonly revision?: number | undefined; readonly uid?: string | undefined };
  readonly outcome: Outcome;
}

export type Outcome =
  /** Answered with the object: as written, or before its deletion. */
  | { readonly type: 'object'; readonly version: Version }
  /** A deletion that took effect immediately. */
  | { readonly type: 'deleted'; readonly uid: string }
  | { readonly type: 'refused'; readonly reason: string }
  /** The server was not reached. */
  | { readonly type: 'unreached' }
  | { readonly type: 'unknown'; readonly why: string };

export interface ReadCall extends Span {
  readonly key: string;
  readonly version: Version | undefined;
}

/** A change in the store's log. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly before: Version | undefined;
  readonly after: Version | undefined;
}

export interface WatchEvent {
  readonly type: string;
  readonly key: string;
  /** For a deletion: the revision of the deletion with the last state. */
  readonly version: Version;
}

/** A watch from a version on, resumed after each cut from the last version it received. */
export interface WatchView {
  readonly after: number;
  readonly until: number;
  readonly events: readonly WatchEvent[];
}

export interface FinalState {
  readonly revision: number;
  readonly versions: ReadonlyMap<string, Version>;
}

/** The record of a run. */
export interface Run {
  readonly log: readonly Change[];
  readonly writes: readonly WriteCall[];
  readonly reads: readonly ReadCall[];
  readonly watches: readonly WatchView[];
  readonly final: FinalState;
}
