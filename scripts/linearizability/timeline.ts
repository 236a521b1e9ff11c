import type { Change, Span } from './record.js';
import type { Version } from './write-model.js';

/** The states of each object, in the order of revisions. */
export class Timeline {
  private readonly byKey = new Map<string, Change[]>();

  constructor(log: readonly Change[]) {
    for (const change of log) {
      const known = this.byKey.get(change.key);
      if (known) known.push(change);
      else this.byKey.set(change.key, [change]);
    }
  }

  keys(): Iterable<string> {
    return this.byKey.keys();
  }

  changesOf(key: string): readonly Change[] {
    return this.byKey.get(key) ?? [];
  }

  changeAt(key: string, revision: number): Change | undefined {
    const changes = this.changesOf(key);
    const change = changes[firstAfter(changes, revision) - 1];
    return change?.revision === revision ? change : undefined;
  }

  stateAt(key: string, revision: number): Version | undefined {
    const changes = this.changesOf(key);
    return changes[firstAfter(changes, revision) - 1]?.after;
  }

  /** Every state of the object at some time from one revision on, before another. */
  statesWithin(key: string, { from, before }: Window): (Version | undefined)[] {
    const changes = this.changesOf(key);
    const states = [this.stateAt(key, from)];
    for (let at = firstAfter(changes, from); at < changes.length && changes[at]!.revision < before; at++) {
      states.push(changes[at]!.after);
    }
    return states;
  }
}

/** Revisions at which a call may have been answered. */
export interface Window {
  readonly from: number;
  readonly before: number;
}

/** Revision of a call: the one it wrote, or the one it was shown. */
export interface Effect {
  readonly span: Span;
  readonly revision: number;
  readonly isWrite: boolean;
}

/** Calls with known revisions limit the revisions at which concurrent calls can have been answered. */
export class RealTime {
  private readonly ended: readonly Bound[];
  private readonly began: readonly Bound[];

  constructor(effects: readonly Effect[]) {
    let highest = 0;
    this.ended = effects
      .map(({ span, revision }) => ({ at: span.ended, revision }))
      .sort((a, b) => a.at - b.at)
      .map(({ at, revision }) => ({ at, revision: (highest = Math.max(highest, revision)) }));
    let lowest = Infinity;
    // Reads may be stale, writes are not.
    this.began = effects
      .filter(({ isWrite }) => isWrite)
      .map(({ span, revision }) => ({ at: span.began, revision }))
      .sort((a, b) => b.at - a.at)
      .map(({ at, revision }) => ({ at, revision: (lowest = Math.min(lowest, revision)) }))
      .reverse();
  }

  windowOf({ began, ended }: Span): Window {
    const last = search(this.ended, ({ at }) => at >= began) - 1;
    const next = search(this.began, ({ at }) => at > ended);
    return { from: this.ended[last]?.revision ?? 0, before: this.began[next]?.revision ?? Infinity };
  }
}

interface Bound {
  readonly at: number;
  readonly revision: number;
}

const firstAfter = (changes: readonly Change[], revision: number) => search(changes, (one) => one.revision > revision);

/** Binary search for the first item that satisfies a monotonic condition. */
function search<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
