import type { Revision } from '../machinery/revision.js';
import type { CallTrace } from '../std/call-trace.js';
import type { Cancellation } from '../std/cancellation.js';
import type { UntransformableError } from './value-transforms.js';

/**
 * The store interface: ordered keys, store-wide revisions, compare-and-set, and watches. Keys are texts ordered by
 * their UTF-8 bytes, values are bytes. Every writing transaction gets the next revision, shared by all its operations.
 * All methods reject only with StorageError. test/contract/kv-store.contract.ts specifies the details; every backend
 * passes it.
 */
export interface KvStore {
  /** Returns the latest value. Linearizable: reflects every write acknowledged before the call. */
  get(key: string, options?: ReadOptions): Promise<GetResult>;
  /** Returns keys that start with `prefix`, in order. Linearizable unless a revision is given. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>;
  /**
   * If every compared key has the expected mod-revision (0: is absent), makes all writes durably as one revision.
   * Otherwise writes nothing and returns the current values of the compared keys.
   */
  txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult>;
  /**
   * Delivers every event under `prefix` from revision `from` on, once, in order, in whole revisions. Reconnects by
   * itself; ends only by close() or with sink.ended. Delivers nothing before watch() has returned.
   */
  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch;
  /** Returns the revision of the last acknowledged write to the store; linearizable. */
  revision(options?: CallOptions): Promise<Revision>;
  /** Drops history before `revision`; reads and watches below it fail with 'compacted'. */
  compact(revision: Revision): Promise<void>;
  /** Ends all watches and releases all resources. Later calls reject with 'closed'. */
  close(): Promise<void>;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** Set if the value is not in `value`, which is empty, but is read when somebody needs it (RangeOptions.defersValues). */
  readonly deferred?: DeferredValue | undefined;
  /** The summary with which the value was written, if the store has kept it. */
  readonly summary?: Uint8Array | undefined;
  /** Set by TransformedStore: true if a write of the same object would use another key of encryption. */
  readonly isStale?: boolean;
  /** Set by TransformedStore: the reason for which `value` could not be decrypted and is as stored. */
  readonly failure?: UntransformableError | undefined;
  /** Of events of stores that can read `value` again, so that nobody need keep it. */
  readonly reread?: DeferredValue['read'] | undefined;
  /** Of stores that keep values in memory: the keeper has the bytes of `value` from now on. */
  keepIn?(keeper: ValueKeeper): void;
}

export interface DeferredValue {
  readonly length: number;
  /** Reads the value of a key from the store. The revision is the mod-revision of the item. Throws StorageErrors. */
  readonly read: (key: string, revision: Revision) => Buffer;
}

/** Reads values of a store that another process has open. */
export interface ValueReader {
  readonly read: DeferredValue['read'];
  close(): Promise<void>;
}

/** Keeps the bytes of a value for a store, so that they are in memory once. */
export interface ValueKeeper {
  storedValue(): Buffer;
  /** Called when the store begins to use the keeper, and when it has dropped the value. */
  hold(): void;
  release(): void;
}

export interface CallOptions {
  readonly signal?: Cancellation | undefined;
  /** Gets a span of each call of another server. */
  readonly trace?: CallTrace | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Reads the state at this revision instead of the latest. */
  readonly revision?: Revision;
}

export interface RangeOptions extends ReadOptions {
  /** The first key to return, inclusive; must start with the prefix. */
  readonly from?: string;
  readonly limit?: number;
  /** True if the caller takes deferred values. A store may ignore it. */
  readonly defersValues?: boolean;
  /** False if the caller only needs to know from `count` whether there are keys beyond the limit. A store may count all the same. */
  readonly countsAll?: boolean;
}

export interface GetResult {
  readonly item: KeyValue | undefined;
  /** The store's revision when it answered, not the requested one. */
  readonly revision: Revision;
}

export interface RangeResult {
  readonly items: readonly KeyValue[];
  /** The store's revision when it answered, not the requested one. */
  readonly revision: Revision;
  /** The number of keys from `from` on, including those beyond `limit` (RangeOptions.countsAll). */
  readonly count: number;
}

export interface Compare {
  readonly key: string;
  /** The expected mod-revision; 0 if the key must not exist. */
  readonly modRevision: Revision;
}

/** Returns properties of a value by which its reader need not decode it. A store may keep them beside the value. */
export type Summarize = () => Uint8Array | undefined;

export type Write =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array; readonly summarize?: Summarize }
  | { readonly type: 'delete'; readonly key: string };

export type TxnResult =
  | { readonly succeeded: true; readonly revision: Revision }
  | { readonly succeeded: false; readonly revision: Revision; readonly current: readonly (KeyValue | undefined)[] };

export interface WatchOptions {
  readonly from: Revision;
  /** True if events carry the previous value. */
  readonly withPrevious?: boolean;
}

/** A change of one key. store-event.ts has the functions that create events. */
export type StoreEvent = PutEvent | DeleteEvent;

export interface PutEvent extends EventOfKey {
  readonly type: 'put';
  readonly item: KeyValue;
}

export interface DeleteEvent extends EventOfKey {
  readonly type: 'delete';
  readonly item?: undefined;
}

interface EventOfKey {
  readonly key: string;
  /** The revision that the change made, which is the mod-revision of `item`. */
  readonly revision: Revision;
  /** The value before the change, if the watch asked for it. */
  readonly previous?: KeyValue | undefined;
}

export interface WatchSink {
  /** Delivers one or more whole revisions, the last of which is `revision`. */
  events(events: readonly StoreEvent[], revision: Revision): void;
  /** All events under the prefix up to this revision have been delivered. */
  progress(revision: Revision): void;
  /** The last call. 'compacted' if `from` is no longer in the history. */
  ended(error: Error): void;
}

export interface Watch {
  /** Requests a progress() soon; a backend that delivers with every commit may ignore it. */
  requestProgress(): void;
  close(): void;
}
