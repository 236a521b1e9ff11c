import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Selection } from './selection.js';

/** Record of requests and answers of clients, which is checked against the history at the end. */
export interface WriteSeen {
  readonly who: string;
  readonly verb: string;
  readonly key: string;
  /** A string that this write alone puts into the object; undefined for deletions. */
  readonly mark: string | undefined;
  /** The resourceVersion of the request. */
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
  /** The answer must reflect everything up to this revision. */
  readonly atLeast: number;
  readonly object: KubeObject | undefined;
}

export interface ListSeen {
  readonly who: string;
  readonly selection: Selection;
  readonly atLeast: number;
  /** The revision requested by resourceVersionMatch=Exact. */
  readonly exactly: number | undefined;
  /** Pages of one list, all at the same revision. */
  readonly pages: readonly {
    readonly revision: number;
    readonly items: readonly KubeObject[];
    readonly remaining: number | undefined;
    readonly isLast: boolean;
  }[];
}

type WatchStep =
  | { readonly type: 'change'; readonly change: string; readonly key: string; readonly object: KubeObject }
  | { readonly type: 'bookmark'; readonly revision: number; readonly endsInitial: boolean };

/** One watch connection. A resumed watch is another one. */
export interface WatchSeen {
  readonly who: string;
  readonly selection: Selection;
  /** The initial state at least at `atLeast`, or changes after a revision. */
  readonly start:
    | { readonly type: 'initial'; readonly atLeast: number }
    | { readonly type: 'after'; readonly revision: number; readonly isResumed: boolean };
  readonly steps: WatchStep[];
  /** Open until the end of the run, when every event must have arrived. */
  end: 'open' | 'closed' | 'ended' | 'expired' | 'failed';
}

export class Ledger {
  readonly writes: WriteSeen[] = [];
  readonly gets: GetSeen[] = [];
  readonly lists: ListSeen[] = [];
  readonly watches: WatchSeen[] = [];
  /** Failures without an active fault. */
  readonly surprises: string[] = [];
  /** Revision that later consistent reads must reflect. */
  acknowledged = 0;

  acknowledge(object: KubeObject): void {
    const revision = Number(object.metadata.resourceVersion ?? 0);
    if (revision > this.acknowledged) this.acknowledged = revision;
  }

  /** Statistics of a run, for reports. */
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
