import type { Revision } from '../machinery/revision.js';

/**
 * All that the server asks of a store: ordered keys, whole-store revisions, compare-and-set, and a log to watch.
 * Keys are texts ordered by their UTF-8 bytes, values are bytes. Every transaction that writes gets the next
 * revision, and all of its operations share it. Everything rejects with StorageError and nothing else.
 * test/contract/kv-store.contract.ts is the long form of this page; every backend passes it.
 */
export interface KvStore {
  /** The latest value, linearizable: it reflects every write that was acknowledged before the call. */
  get(key: string, options?: ReadOptions): Promise<GetResult>;
  /** Keys that start with `prefix`, in order; linearizable unless a revision is given. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>;
  /**
   * If every compared key has the expected mod-revision (0: is absent), makes all writes, durably, as one revision.
   * Otherwise writes nothing and returns the compared keys as they are.
   */
  txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult>;
  /**
   * Everything that happens under `prefix` from revision `from` on, each event once, in order, whole revisions at a
   * time. It survives lost connections by itself; it ends only by close() or with sink.ended. Events are never
   * delivered before watch() has returned.
   */
  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch;
  /** The revision of the last acknowledged write to the whole store; linearizable. */
  revision(options?: CallOptions): Promise<Revision>;
  /** Forgets history before `revision`; reads and watches below it then fail with 'compacted'. */
  compact(revision: Revision): Promise<void>;
  /** Ends all watches and lets go of all resources. Calls made after it reject with 'closed'. */
  close(): Promise<void>;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** The state as of this revision, instead of the latest. */
  readonly revision?: Revision;
}

export interface RangeOptions extends ReadOptions {
  /** The first key to return, inclusive; it starts with the prefix. */
  readonly from?: string;
  readonly limit?: number;
}

export interface GetResult {
  readonly item: KeyValue | undefined;
  /** The store's revision when it answered (not the one asked for). */
  readonly revision: Revision;
}

export interface RangeResult {
  readonly items: readonly KeyValue[];
  /** The store's revision when it answered (not the one asked for). */
  readonly revision: Revision;
  /** Keys of the range from `from` on, those beyond `limit` included. */
  readonly count: number;
}

export interface Compare {
  readonly key: string;
  /** The mod-revision that the key must have; 0 means that it must not exist. */
  readonly modRevision: Revision;
}

export type Write =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: string };

export type TxnResult =
  | { readonly succeeded: true; readonly revision: Revision }
  | { readonly succeeded: false; readonly revision: Revision; readonly current: readonly (KeyValue | undefined)[] };

export interface WatchOptions {
  readonly from: Revision;
  /** Whether events carry the value before them. */
  readonly withPrevious?: boolean;
}

export type StoreEvent =
  | { readonly type: 'put'; readonly item: KeyValue; readonly previous?: KeyValue | undefined }
  | {
      readonly type: 'delete';
      readonly key: string;
      readonly modRevision: Revision;
      readonly previous?: KeyValue | undefined;
    };

export interface WatchSink {
  /** One or more whole revisions. `revision` is the last of them. */
  events(events: readonly StoreEvent[], revision: Revision): void;
  /** Nothing under the prefix happened up to this revision that was not delivered. */
  progress(revision: Revision): void;
  /** 'compacted' when `from` is no longer in the history; no call follows. */
  ended(error: Error): void;
}

export interface Watch {
  /** Asks for a progress() soon; a backend that delivers with every commit may ignore it. */
  requestProgress(): void;
  close(): void;
}
