import type { Revision } from '../../../machinery/revision.js';
import { wireTypes, type ProtobufReader } from '../../../std/protobuf-reader.js';
import type { ProtobufWriter } from '../../../std/protobuf-writer.js';
import type { KeyValue } from '../../kv-store.js';
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
} from './etcd-messages.js';
import {
  decoder,
  endMessage,
  framed,
  readBytes,
  readFlag,
  readNested,
  readNumber,
  readText,
  writeBytes,
  writeFlag,
  writeNumber,
  writePresentNumber,
  writerFor,
} from '../../../grpc/fields.js';
import { MalformedMessageError } from '../../../grpc/grpc-error.js';
import { keyText } from './key-text.js';

/**
 * Encodes and decodes the messages of etcd-messages.ts. Field numbers are those of etcd's rpc.proto and kv.proto.
 * Requests include the gRPC header; their fields are written in reverse order (see ProtobufWriter).
 */

/** Bytes of a message without its keys and values. */
const opBytesMax = 48;
const compareBytesMax = 40;
const compareByModRevision = 2;
const noBytes: Buffer = Buffer.alloc(0);

export function encodeRange(request: RangeRequest): Buffer {
  const writer = writerFor(rangeBytesMax(request));
  writeRange(writer, request);
  return framed(writer);
}

export function encodeTxn({ compare, success, failure }: TxnRequest): Buffer {
  let bytes = 0;
  for (const { key } of compare) bytes += compareBytesMax + key.length;
  for (const op of success) bytes += opBytes(op);
  for (const op of failure) bytes += opBytes(op);
  const writer = writerFor(bytes);
  for (let i = failure.length - 1; i >= 0; i--) writeOp(writer, 3, failure[i]!);
  for (let i = success.length - 1; i >= 0; i--) writeOp(writer, 2, success[i]!);
  for (let i = compare.length - 1; i >= 0; i--) {
    const { key, modRevision } = compare[i]!;
    const end = writer.length;
    writePresentNumber(writer, 6, modRevision);
    writeBytes(writer, 3, key);
    // Field 1, the result, is left out: its default is EQUAL.
    writeNumber(writer, 2, compareByModRevision);
    endMessage(writer, 1, end);
  }
  return framed(writer);
}

export function encodeWatch(request: WatchRequest): Buffer {
  const isCreation = request.type === 'create';
  const writer = writerFor(opBytesMax + (isCreation ? request.key.length + request.rangeEnd.length : 0));
  const end = writer.length;
  if (isCreation) {
    writeFlag(writer, 8, request.isFragmented);
    writeFlag(writer, 6, request.withPrevious);
    writeFlag(writer, 4, request.hasProgressNotes);
    writeNumber(writer, 3, request.startRevision);
    writeBytes(writer, 2, request.rangeEnd);
    writeBytes(writer, 1, request.key);
  }
  endMessage(writer, isCreation ? 1 : 3, end);
  return framed(writer);
}

export function encodeStatus(): Buffer {
  return framed(writerFor(0));
}

export const decodeRange = decoder((reader) => withRevision(readRange(reader)));

export const decodeTxn = decoder((reader): TxnResponse => {
  let revision = 0 as Revision;
  let succeeded = false;
  const ranges: RangeResponse[] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = readNested(reader, readHeader);
    else if (reader.field === 2) succeeded = readFlag(reader);
    else if (reader.field === 3) {
      const range = readNested(reader, readRangeOfOp);
      if (range) ranges.push(range);
    } else reader.skip();
  }
  return withRevision({ revision, succeeded, ranges });
});

export const decodeWatch = decoder((reader): WatchResponse => {
  let revision = 0 as Revision;
  let isCreated = false;
  let isCancelled = false;
  let compactRevision = 0;
  let cancelReason = '';
  let isFragment = false;
  const events: EtcdEvent[] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = readNested(reader, readHeader);
    else if (reader.field === 3) isCreated = readFlag(reader);
    else if (reader.field === 4) isCancelled = readFlag(reader);
    else if (reader.field === 5) compactRevision = readNumber(reader);
    else if (reader.field === 6) cancelReason = readText(reader);
    else if (reader.field === 7) isFragment = readFlag(reader);
    else if (reader.field === 11) events.push(readNested(reader, readEvent));
    else reader.skip();
  }
  return { revision, isCreated, isCancelled, compactRevision, cancelReason, isFragment, events };
});

export const decodeStatus = decoder((reader): StatusResponse => {
  let version = '';
  let clusterId = '';
  while (reader.next()) {
    if (reader.field === 2) version = readText(reader);
    else if (reader.field === 1) clusterId = readNested(reader, readClusterId);
    else reader.skip();
  }
  return { version, clusterId };
});

function writeRange(writer: ProtobufWriter, request: RangeRequest): void {
  writeFlag(writer, 9, request.isCountOnly === true);
  writeNumber(writer, 4, request.revision ?? 0);
  writeNumber(writer, 3, request.limit ?? 0);
  if (request.rangeEnd) writeBytes(writer, 2, request.rangeEnd);
  writeBytes(writer, 1, request.key);
}

function writeOp(writer: ProtobufWriter, field: number, op: RequestOp): void {
  const end = writer.length;
  if (op.type === 'put') {
    writeBytes(writer, 2, op.value);
    writeBytes(writer, 1, op.key);
    endMessage(writer, 2, end);
  } else if (op.type === 'delete') {
    writeBytes(writer, 1, op.key);
    endMessage(writer, 3, end);
  } else {
    writeRange(writer, op);
    endMessage(writer, 1, end);
  }
  endMessage(writer, field, end);
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
    if (reader.field === 3) revision = readNumber(reader);
    else reader.skip();
  }
  return revision as Revision;
}

function readClusterId(reader: ProtobufReader): string {
  let id = '';
  while (reader.next()) {
    if (reader.field === 1) {
      reader.expect(wireTypes.varint);
      id = BigInt.asUintN(64, BigInt(reader.int64())).toString(16);
    } else reader.skip();
  }
  return id;
}

function readRange(reader: ProtobufReader): RangeResponse {
  let revision = 0 as Revision;
  let count = 0;
  const items: KeyValue[] = [];
  while (reader.next()) {
    if (reader.field === 2) items.push(readNested(reader, readKeyValue));
    else if (reader.field === 1) revision = readNested(reader, readHeader);
    else if (reader.field === 4) count = readNumber(reader);
    else reader.skip();
  }
  return { revision, items, count };
}

/** Returns undefined for the responses of put and delete, which are not used. */
function readRangeOfOp(reader: ProtobufReader): RangeResponse | undefined {
  let range: RangeResponse | undefined;
  while (reader.next()) {
    if (reader.field === 1) range = readNested(reader, readRange);
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
    if (reader.field === 1) key = readKey(reader);
    else if (reader.field === 5) value = readBytes(reader);
    else if (reader.field === 2) createRevision = readNumber(reader);
    else if (reader.field === 3) modRevision = readNumber(reader);
    else reader.skip();
  }
  return { key, value, createRevision: createRevision as Revision, modRevision: modRevision as Revision };
}

function readEvent(reader: ProtobufReader): EtcdEvent {
  let isDeletion = false;
  let item: KeyValue | undefined;
  let previous: KeyValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) isDeletion = readNumber(reader) === 1;
    else if (reader.field === 2) item = readNested(reader, readKeyValue);
    else if (reader.field === 3) previous = readNested(reader, readKeyValue);
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

/** Reads a key, which need not be valid UTF-8. */
function readKey(reader: ProtobufReader): string {
  reader.expect(wireTypes.bytes);
  return reader.content(keyText);
}
