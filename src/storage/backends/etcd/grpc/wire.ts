import type { Revision } from '../../../../machinery/revision.js';
import type { KeyValue } from '../../../kv-store.js';
import type {
  EtcdEvent,
  RangeRequest,
  RangeResponse,
  RequestOp,
  StatusResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
  WatchResponse,
} from '../etcd-messages.js';
import { MalformedMessageError } from './grpc-error.js';
import { ProtobufReader, ProtobufWriter } from './protobuf.js';

/**
 * Encodes and decodes the messages of etcd-messages.ts. Field numbers are those of etcd's rpc.proto and kv.proto.
 * Requests include the gRPC header; their fields are written in reverse order (see ProtobufWriter).
 */
const opBytesMax = 48;
const compareBytesMax = 40;
const compareByModRevision = 2;
const noBytes: Buffer = Buffer.alloc(0);

export function encodeRange(request: RangeRequest): Buffer {
  const writer = new ProtobufWriter(rangeBytesMax(request));
  writeRange(writer, request);
  return writer.framed();
}

export function encodeTxn({ compare, success, failure }: TxnRequest): Buffer {
  let bytes = 0;
  for (const { key } of compare) bytes += compareBytesMax + key.length;
  for (const op of success) bytes += opBytes(op);
  for (const op of failure) bytes += opBytes(op);
  const writer = new ProtobufWriter(bytes);
  for (let i = failure.length - 1; i >= 0; i--) writeOp(writer, 3, failure[i]!);
  for (let i = success.length - 1; i >= 0; i--) writeOp(writer, 2, success[i]!);
  for (let i = compare.length - 1; i >= 0; i--) {
    const { key, modRevision } = compare[i]!;
    const mark = writer.beginMessage();
    writer.presentNumber(6, modRevision);
    writer.buffer(3, key);
    // Field 1, the result, is left out: its default is EQUAL.
    writer.number(2, compareByModRevision);
    writer.endMessage(1, mark);
  }
  return writer.framed();
}

export function encodeWatch(request: WatchRequest): Buffer {
  if (request.type === 'progress') {
    const writer = new ProtobufWriter(2);
    writer.endMessage(3, writer.beginMessage());
    return writer.framed();
  }
  const writer = new ProtobufWriter(opBytesMax + request.key.length + request.rangeEnd.length);
  const mark = writer.beginMessage();
  writer.boolean(8, request.isFragmented);
  writer.boolean(6, request.withPrevious);
  writer.boolean(4, request.hasProgressNotes);
  writer.number(3, request.startRevision);
  writer.buffer(2, request.rangeEnd);
  writer.buffer(1, request.key);
  writer.endMessage(1, mark);
  return writer.framed();
}

export function encodeStatus(): Buffer {
  return new ProtobufWriter(0).framed();
}

export function decodeRange(bytes: Buffer): RangeResponse {
  return withRevision(readRange(new ProtobufReader(bytes)));
}

export function decodeTxn(bytes: Buffer): TxnResponse {
  const reader = new ProtobufReader(bytes);
  let revision = 0 as Revision;
  let succeeded = false;
  const ranges: RangeResponse[] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readHeader);
    else if (reader.field === 2) succeeded = reader.boolean();
    else if (reader.field === 3) {
      const range = reader.message(readRangeOfOp);
      if (range) ranges.push(range);
    } else reader.skip();
  }
  return withRevision({ revision, succeeded, ranges });
}

export function decodeWatch(bytes: Buffer): WatchResponse {
  const reader = new ProtobufReader(bytes);
  let revision = 0 as Revision;
  let isCreated = false;
  let isCancelled = false;
  let compactRevision = 0;
  let cancelReason = '';
  let isFragment = false;
  const events: EtcdEvent[] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readHeader);
    else if (reader.field === 3) isCreated = reader.boolean();
    else if (reader.field === 4) isCancelled = reader.boolean();
    else if (reader.field === 5) compactRevision = reader.number();
    else if (reader.field === 6) cancelReason = reader.text();
    else if (reader.field === 7) isFragment = reader.boolean();
    else if (reader.field === 11) events.push(reader.message(readEvent));
    else reader.skip();
  }
  return { revision, isCreated, isCancelled, compactRevision, cancelReason, isFragment, events };
}

export function decodeStatus(bytes: Buffer): StatusResponse {
  const reader = new ProtobufReader(bytes);
  let version = '';
  while (reader.next()) {
    if (reader.field === 2) version = reader.text();
    else reader.skip();
  }
  return { version };
}

function writeRange(writer: ProtobufWriter, request: RangeRequest): void {
  writer.boolean(9, request.isCountOnly === true);
  writer.number(4, request.revision ?? 0);
  writer.number(3, request.limit ?? 0);
  if (request.rangeEnd) writer.buffer(2, request.rangeEnd);
  writer.buffer(1, request.key);
}

function writeOp(writer: ProtobufWriter, field: number, op: RequestOp): void {
  const outer = writer.beginMessage();
  const inner = writer.beginMessage();
  if (op.type === 'put') {
    writer.buffer(2, op.value);
    writer.buffer(1, op.key);
    writer.endMessage(2, inner);
  } else if (op.type === 'delete') {
    writer.buffer(1, op.key);
    writer.endMessage(3, inner);
  } else {
    writeRange(writer, op);
    writer.endMessage(1, inner);
  }
  writer.endMessage(field, outer);
}

function opBytes(op: RequestOp): number {
  if (op.type === 'range') return rangeBytesMax(op);
  return opBytesMax + op.key.length + (op.type === 'put' ? op.value.length : 0);
}

function rangeBytesMax({ key, rangeEnd }: RangeRequest): number {
  return opBytesMax + key.length + (rangeEnd?.length ?? 0);
}

function readHeader(reader: ProtobufReader): Revision {
  let revision = 0;
  while (reader.next()) {
    if (reader.field === 3) revision = reader.number();
    else reader.skip();
  }
  return revision as Revision;
}

function readRange(reader: ProtobufReader): RangeResponse {
  let revision = 0 as Revision;
  let count = 0;
  const items: KeyValue[] = [];
  while (reader.next()) {
    if (reader.field === 2) items.push(reader.message(readKeyValue));
    else if (reader.field === 1) revision = reader.message(readHeader);
    else if (reader.field === 4) count = reader.number();
    else reader.skip();
  }
  return { revision, items, count };
}

/** Returns undefined for the responses of put and delete, which are not used. */
function readRangeOfOp(reader: ProtobufReader): RangeResponse | undefined {
  let range: RangeResponse | undefined;
  while (reader.next()) {
    if (reader.field === 1) range = reader.message(readRange);
    else reader.skip();
  }
  return range;
}

function readKeyValue(reader: ProtobufReader): KeyValue {
  let key = '';
  let value = noBytes;
  let createRevision = 0;
  let modRevision = 0;
  while (reader.next()) {
    if (reader.field === 1) key = reader.key();
    else if (reader.field === 5) value = reader.buffer();
    else if (reader.field === 2) createRevision = reader.number();
    else if (reader.field === 3) modRevision = reader.number();
    else reader.skip();
  }
  return { key, value, createRevision: createRevision as Revision, modRevision: modRevision as Revision };
}

function readEvent(reader: ProtobufReader): EtcdEvent {
  let isDeletion = false;
  let item: KeyValue | undefined;
  let previous: KeyValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) isDeletion = reader.number() === 1;
    else if (reader.field === 2) item = reader.message(readKeyValue);
    else if (reader.field === 3) previous = reader.message(readKeyValue);
    else reader.skip();
  }
  if (!item) throw new MalformedMessageError('event without key-value');
  return { isDeletion, item, previous };
}

/** Rejects a response without revision. Taking it for 0 would restart watches from the beginning. */
function withRevision<T extends { readonly revision: Revision }>(response: T): T {
  if (response.revision === 0) throw new MalformedMessageError('header without revision');
  return response;
}
