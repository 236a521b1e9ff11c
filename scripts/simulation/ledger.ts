import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Selection } from './selection.js';

/** What clients did and were told, to be held against the history when all has come to rest. */
export interface WriteSeen {
  readonly who: string;
  readonly verb: string;
  readonly key: string;
  /** A text that this write alone puts into the object; deletions have none. */
  readonly mark: string | undefined;
  /** The version that the write was to replace, where it named one. */
  readonly replaces: number | undefined;
  readonly isDryRun: boolean;
  readonly outcome:
    | { readonly type: 'acknowledged'; readonly object: KubeObject }
    | { readonly type: 'refused'; readonly why: string }
    | { readonly type: 'unknown' };
}

export interface GetSeen {
  readonly who: string;
  readonly key: string;
  /** The answer reflects everything up to here. */
  readonly atLeast: number;
  readonly object: KubeObject | undefined;
}

export interface ListSeen {
  readonly who: string;
  readonly selection: Selection;
  readonly atLeast: number;
  /** The version that was asked for, where it was to be just that one. */
  readonly exactly: number | undefined;
  /** Those of one revision. */
  readonly pages: readonly {
    readonly revision: number;
    readonly items: readonly KubeObject[];
    readonly remaining: number | undefined;
    readonly isLast: boolean;
  }[];
}

export type WatchStep =
  | { readonly type: 'change'; readonly change: string; readonly key: string; readonly object: KubeObject }
  | { readonly type: 'bookmark'; readonly revision: number; readonly endsInitial: boolean };

/** One connection. A watch that is taken up again is another one. */
export interface WatchSeen {
  readonly who: string;
  readonly selection: Selection;
  /** Everything that is there and reflects `atLeast`, or changes after a version. */
  readonly start:
    | { readonly type: 'initial'; readonly atLeast: number }
    | { readonly type: 'after'; readonly revision: number; readonly isResumed: boolean };
  readonly steps: WatchStep[];
  /** Open: until the very end, when everything must have arrived. */
  end: 'open' | 'closed' | 'ended' | 'expired' | 'failed';
}

export class Ledger {
  readonly writes: WriteSeen[] = [];
  readonly gets: GetSeen[] = [];
  readonly lists: ListSeen[] = [];
  readonly watches: WatchSeen[] = [];
  /** Failures that no fault explains. */
  readonly surprises: string[] = [];
  /** Whoever asks a server for the most recent state from here on sees this revision. */
  acknowledged = 0;

  acknowledge(object: KubeObject): void {
    const revision = Number(object.metadata.resourceVersion ?? 0);
    if (revision > this.acknowledged) this.acknowledged = revision;
  }

  /** For reports: what a run consisted of. */
  counts(): Record<string, number> {
    const of = (type: string) => this.writes.filter(({ outcome }) => outcome.type === type).length;
    const steps = this.watches.flatMap((watch) => watch.steps);
    return {
      acknowledged: of('acknowledged'),
      refused: of('refused'),
      unknown: of('unknown'),
      gets: this.gets.length,
      lists: this.lists.length,
      watches: this.watches.length,
      resumed: this.watches.filter(({ start }) => start.type === 'after' && start.isResumed).length,
      expired: this.watches.filter(({ end }) => end === 'expired').length,
      events: steps.filter(({ type }) => type === 'change').length,
      bookmarks: steps.filter(({ type }) => type === 'bookmark').length,
    };
  }
}
