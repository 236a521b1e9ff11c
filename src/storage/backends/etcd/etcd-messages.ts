import type { Revision } from '../../../machinery/revision.js';
import type { KeyValue, StoreEvent } from '../../kv-store.js';
import { deleteEvent, putEvent } from '../../store-event.js';
import { keyBytes } from './key-text.js';

/**
 * The etcd messages that are used; grpc/wire.ts encodes and decodes them. The revision of a response is that of its
 * header: the store's revision when it answered.
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
  /** The number of keys in the range, regardless of the limit. */
  readonly count: number;
}

/** Runs `success` if every compared key has the given mod-revision, otherwise `failure`. */
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
  /** The responses to range operations. */
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
      /** Large revisions may be split over several responses. */
      readonly isFragmented: boolean;
    }
  | { readonly type: 'progress' };

export interface EtcdEvent {
  readonly isDeletion: boolean;
  /** For a deletion only the key and mod-revision are set. */
  readonly item: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface WatchResponse {
  readonly revision: Revision;
  readonly isCreated: boolean;
  readonly isCancelled: boolean;
  /** If above 0, the watch was cancelled because its start is below this compacted revision. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** True if more events of the same revisions follow. */
  readonly isFragment: boolean;
  readonly events: readonly EtcdEvent[];
}

export interface StatusResponse {
  readonly version: string;
  /** The ID of the member's cluster, as text because it has 64 bits. */
  readonly clusterId: string;
}

/** As range end: no upper bound. As key: the first possible key. */
export const zeroKey = Buffer.from([0]);

export function bytesOfKey(key: string): Buffer {
  return key === '' ? zeroKey : keyBytes(key);
}

/** Returns the first key after all keys with `prefix`. UTF-8 has no byte 0xff, so the last byte can be incremented. */
export function endOfPrefix(prefix: string): Buffer {
  if (prefix === '') return zeroKey;
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

export function storeEventOf({ isDeletion, item, previous }: EtcdEvent): StoreEvent {
  return isDeletion ? deleteEvent(item.key, item.modRevision, previous) : putEvent(item, previous);
}
