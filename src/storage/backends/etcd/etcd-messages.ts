import { revisionOf } from '../../../machinery/revision.js';
import type { KeyValue, StoreEvent } from '../../kv-store.js';

/**
 * The part of etcd's gRPC messages that we use, in the form etcd3's transport gives them: 64-bit integers are read as
 * texts and may be written as numbers, absent messages are null.
 */
export interface EtcdKeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly create_revision: string;
  readonly mod_revision: string;
}

export interface EtcdHeader {
  readonly revision: string;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly range_end?: Uint8Array;
  readonly revision?: number;
  readonly limit?: number;
  readonly count_only?: boolean;
}

export interface RangeResponse {
  readonly header: EtcdHeader;
  readonly kvs: readonly EtcdKeyValue[];
  readonly count: string;
}

export interface TxnRequest {
  readonly compare: readonly {
    readonly key: Uint8Array;
    readonly target: 'Mod';
    readonly result: 'Equal';
    readonly mod_revision: number;
  }[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export type RequestOp =
  | { readonly request_put: { readonly key: Uint8Array; readonly value: Uint8Array } }
  | { readonly request_delete_range: { readonly key: Uint8Array } }
  | { readonly request_range: RangeRequest };

export interface TxnResponse {
  readonly header: EtcdHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse | null }[];
}

export interface WatchCreateRequest {
  readonly key: Uint8Array;
  readonly range_end: Uint8Array;
  readonly start_revision: number;
  readonly progress_notify: boolean;
  readonly prev_kv: boolean;
  readonly fragment: boolean;
}

export type WatchRequest =
  { readonly create_request: WatchCreateRequest } | { readonly progress_request: Record<string, never> };

export interface EtcdEvent {
  readonly type: 'Put' | 'Delete';
  readonly kv: EtcdKeyValue;
  readonly prev_kv: EtcdKeyValue | null;
}

export interface WatchResponse {
  readonly header: EtcdHeader;
  readonly watch_id: string;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdEvent[];
}

/** As a range end it means: no end. As a key it is the first one there can be. */
export const zeroKey = Buffer.from([0]);

export function bytesOfKey(key: string): Buffer {
  return key === '' ? zeroKey : Buffer.from(key);
}

/** The first key behind all that start with `prefix`. UTF-8 has no byte 0xff, so the last one can be raised. */
export function endOfPrefix(prefix: string): Buffer {
  if (prefix === '') return zeroKey;
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

export function keyValueOf(kv: EtcdKeyValue): KeyValue {
  return {
    key: kv.key.toString(),
    value: kv.value,
    createRevision: revisionOf(kv.create_revision),
    modRevision: revisionOf(kv.mod_revision),
  };
}

export function storeEventOf(event: EtcdEvent): StoreEvent {
  const previous = event.prev_kv ? keyValueOf(event.prev_kv) : undefined;
  if (event.type === 'Put') return { type: 'put', item: keyValueOf(event.kv), previous };
  return { type: 'delete', key: event.kv.key.toString(), modRevision: revisionOf(event.kv.mod_revision), previous };
}
