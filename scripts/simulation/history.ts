import { decodeJson } from '../../src/codec/json.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { revisionOf } from '../../src/machinery/revision.js';
import type { KeyValue, KvStore, StoreEvent, Watch } from '../../src/storage/kv-store.js';

/** An object in the store; `metadata.resourceVersion` is the revision. */
export interface State {
  readonly revision: number;
  readonly object: KubeObject;
}

/** One change of one object. Keys are `configmaps/<namespace>/<name>`. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly before: State | undefined;
  readonly after: State | undefined;
}

/** All changes in the store's log, with which the answers of servers are compared. */
export class History {
  readonly changes: Change[] = [];
  /** Marks of all writes that were stored. */
  readonly marks = new Set<string>();
  /** The history is complete up to this revision. */
  head = 0;
  private readonly byKey = new Map<string, Change[]>();

  constructor(private readonly root = '/registry/') {}

  /** Reads the log of a store from its beginning to its head. */
  static async of(store: KvStore, root?: string): Promise<History> {
    const history = new History(root);
    const until = await store.revision();
    await new Promise<void>((resolve, reject) => {
      const watch = history.follow(store, reject, () => {
        if (history.head < until) return;
        clearInterval(asking);
        watch.close();
        resolve();
      });
      // Later revisions may be outside of the root: only a progress notification tells that nothing follows.
      const asking = setInterval(() => watch.requestProgress(), 20);
    });
    return history;
  }

  /** Continues as long as the returned watch. */
  follow(store: KvStore, failed: (error: Error) => void, moved: () => void = () => undefined): Watch {
    return store.watch(
      this.root,
      { from: revisionOf(2) },
      {
        events: (events, revision) => {
          for (const event of events) this.add(event);
          this.head = revision;
          moved();
        },
        progress: (revision) => {
          this.head = Math.max(this.head, revision);
          moved();
        },
        ended: failed,
      },
    );
  }

  /** Changes after one revision, up to another. */
  *between(after: number, until: number): Generator<Change> {
    for (let at = this.firstAfter(after); at < this.changes.length; at++) {
      const change = this.changes[at]!;
      if (change.revision > until) return;
      yield change;
    }
  }

  changesOf(key: string): readonly Change[] {
    return this.byKey.get(key) ?? [];
  }

  changeAt(key: string, revision: number): Change | undefined {
    return this.changesOf(key).find((change) => change.revision === revision);
  }

  /** The object at a revision. */
  stateAt(key: string, revision: number): State | undefined {
    let state: State | undefined;
    for (const change of this.changesOf(key)) {
      if (change.revision > revision) break;
      state = change.after;
    }
    return state;
  }

  /** All selected objects at a revision, sorted by key. */
  statesAt(revision: number, selects: (key: string, object: KubeObject) => boolean): [string, State][] {
    const found: [string, State][] = [];
    for (const key of [...this.byKey.keys()].sort()) {
      const state = this.stateAt(key, revision);
      if (state && selects(key, state.object)) found.push([key, state]);
    }
    return found;
  }

  private add({ key: fullKey, revision, item }: StoreEvent): void {
    if (!fullKey.startsWith(this.root)) return;
    const key = fullKey.slice(this.root.length);
    const after = item && this.read(item);
    // Another program may write values that are no objects.
    if (after === 'unreadable') return;
    const known = this.byKey.get(key);
    const change = { revision, key, before: known?.at(-1)?.after, after };
    if (known) known.push(change);
    else this.byKey.set(key, [change]);
    this.changes.push(change);
  }

  private read(item: KeyValue): State | 'unreadable' {
    for (const [mark] of item.value.toString().matchAll(/write-[\w-]+/g)) this.marks.add(mark);
    let object: KubeObject;
    try {
      object = decodeJson(item.value) as unknown as KubeObject;
    } catch {
      return 'unreadable';
    }
    if (typeof object?.metadata !== 'object') return 'unreadable';
    object.metadata.resourceVersion = String(item.modRevision);
    return { revision: item.modRevision, object };
  }

  private firstAfter(revision: number): number {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.changes[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
