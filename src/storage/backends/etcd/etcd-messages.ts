import type { Revision } from '../../../machinery/revision.js';
import type { KeyValue, StoreEvent } from '../../kv-store.js';
import { keyBytes } from './key-text.js';

/**
 * The part of etcd's messages that we use, in our own words; grpc/wire.ts knows them as bytes. A response's revision is
 * that of its header: the store's, when it answered.
 */
export interface RangeRequest {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
  readonly revision?: number;
  readonly limit?: number;
  readonly isCountOnly?: boolean;
}

export interface RangeResponse {
  readonly revision: Revision;
  readonly items: readonly KeyValue[];
  /** Of all that the range has, whatever the limit. */
  readonly count: number;
}

/** What to do when every key was last changed at the revision that is given for it, and else. */
export interface TxnRequest {
  readonly compare: readonly { readonly key: Uint8Array; readonly modRevision: number }[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export type RequestOp =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: Uint8Array }
  | ({ readonly type: 'range' } & RangeRequest);

export interface TxnResponse {
  readonly revision: Revision;
  readonly succeeded: boolean;
  /** The answers to those operations that were ranges. */
  readonly ranges: readonly RangeResponse[];
}

export type WatchRequest =
  | {
      readonly type: 'create';
      readonly key: Uint8Array;
      readonly rangeEnd: Uint8Array;
      readonly startRevision: number;
      readonly hasProgressNotes: boolean;
      readonly withPrevious: boolean;
      /** Large revisions may come in several responses. */
      readonly isFragmented: boolean;
    }
  | { readonly type: 'progress' };

export interface EtcdEvent {
  readonly isDeletion: boolean;
  /** Of a deletion: its key and revision alone. */
  readonly item: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface WatchResponse {
  readonly revision: Revision;
  readonly isCreated: boolean;
  readonly isCancelled: boolean;
  /** Above 0: why it was cancelled. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of the same revisions follows. */
  readonly isFragment: boolean;
  readonly events: readonly EtcdEvent[];
}

export interface StatusResponse {
  readonly version: string;
}

/** As a range end it means: no end. As a key it is the first one there can be. */
export const zeroKey = Buffer.from([0]);

export function bytesOfKey(key: string): Buffer {
  return key === '' ? zeroKey : keyBytes(key);
}

/** The first key behind all that start with `prefix`. UTF-8 has no byte 0xff, so the last one can be raised. */
export function endOfPrefix(prefix: string): Buffer {
  if (prefix === '') return zeroKey;
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

export function storeEventOf({ isDeletion, item, previous }: EtcdEvent): StoreEvent {
  if (isDeletion) return { type: 'delete', key: item.key, modRevision: item.modRevision, previous };
  return { type: 'put', item, previous };
}
