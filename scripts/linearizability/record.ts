import type { Intent, Version } from './write-model.js';

/** Begin and end of a call on one clock that only counts: what ended before another began came before it. */
export interface Span {
  readonly began: number;
  readonly ended: number;
}

export interface WriteCall extends Span {
  /** The text that this write puts into the object. */
  readonly mark: string;
  readonly key: string;
  readonly intent: Intent;
  /** What the object must be for the write to be made, where the request says so. */
  readonly expects: { readonly revision?: number | undefined; readonly uid?: string | undefined };
  readonly outcome: Outcome;
}

export type Outcome =
  /** The object that was answered: as written, or as it went. */
  | { readonly type: 'object'; readonly version: Version }
  /** A deletion that was done at once. */
  | { readonly type: 'deleted'; readonly uid: string }
  | { readonly type: 'refused'; readonly reason: string }
  /** The server was not reached at all. */
  | { readonly type: 'unreached' }
  | { readonly type: 'unknown'; readonly why: string };

export interface ReadCall extends Span {
  readonly key: string;
  readonly version: Version | undefined;
}

/** A change as the store's own log tells it. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly before: Version | undefined;
  readonly after: Version | undefined;
}

export interface WatchEvent {
  readonly type: string;
  readonly key: string;
  /** Of a deletion: its own revision, and the last state otherwise. */
  readonly version: Version;
}

/** A watch from one version on, resumed at what it was told last as often as it was cut off. */
export interface WatchView {
  readonly after: number;
  readonly until: number;
  readonly events: readonly WatchEvent[];
}

export interface FinalState {
  readonly revision: number;
  readonly versions: ReadonlyMap<string, Version>;
}

/** All that is known of a run. */
export interface Run {
  readonly log: readonly Change[];
  readonly writes: readonly WriteCall[];
  readonly reads: readonly ReadCall[];
  readonly watches: readonly WatchView[];
  readonly final: FinalState;
}
