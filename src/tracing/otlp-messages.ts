import { decoder, endMessage, framed, readNested, readNumber, writeNumber, writerFor } from '../grpc/fields.js';
import type { ProtobufReader } from '../std/protobuf-reader.js';
import { wireTypes } from '../std/protobuf-reader.js';
import type { ProtobufWriter } from '../std/protobuf-writer.js';
import type { AttributeValue, SpanAttributes } from '../std/call-trace.js';
import type { Span, SpanEvent } from './span.js';
import type { TraceContext } from './trace-context.js';

/*
 * Messages of OTLP 1, by field number (opentelemetry/proto/trace/v1/trace.proto):
 *
 *   ExportTraceServiceRequest   { 1 resource_spans: ResourceSpans[] }
 *   ExportTraceServiceResponse  { 1 partial_success: { 1 rejected_spans: int64, 2 error_message: string } }
 *   ResourceSpans               { 1 resource: { 1 attributes: KeyValue[] }, 2 scope_spans: ScopeSpans[] }
 *   ScopeSpans                  { 1 scope: { 1 name: string }, 2 spans: Span[] }
 *   Span                        { 1 trace_id: bytes, 2 span_id: bytes, 3 trace_state: string, 4 parent_span_id: bytes,
 *                                 5 name: string, 6 kind: enum, 7 start_time_unix_nano: fixed64, 8 end_time_unix_nano,
 *                                 9 attributes: KeyValue[], 11 events: Event[], 12 dropped_events_count: uint32,
 *                                 13 links: Link[], 15 status: { 2 message: string, 3 code: enum } }
 *   Event                       { 1 time_unix_nano: fixed64, 2 name: string, 3 attributes: KeyValue[] }
 *   Link                        { 1 trace_id: bytes, 2 span_id: bytes, 3 trace_state: string }
 *   KeyValue                    { 1 key: string, 2 value: { 1 string_value | 2 bool_value | 3 int_value | 4 double_value } }
 */

export const exportPath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

const errorStatus = 2;
const bytesPerSpan = 512;
const fixed64 = Buffer.alloc(8);
const idBytes = Buffer.alloc(16);
const word = 2 ** 32;

/** Encodes the spans of one server, with the gRPC header. Writers write from the end, so all loops run backwards. */
export function encodeExport(resource: SpanAttributes, scope: string, spans: readonly Span[]): Buffer {
  const writer = writerFor(spans.length * bytesPerSpan);
  const all = writer.length;
  const scopeSpans = writer.length;
  for (let i = spans.length - 1; i >= 0; i--) {
    const end = writer.length;
    writeSpan(writer, spans[i]!);
    endMessage(writer, 2, end);
  }
  const scopeEnd = writer.length;
  writeText(writer, 1, scope);
  endMessage(writer, 1, scopeEnd);
  endMessage(writer, 2, scopeSpans);
  const resourceEnd = writer.length;
  writeAttributes(writer, 1, resource);
  endMessage(writer, 1, resourceEnd);
  endMessage(writer, 1, all);
  return framed(writer);
}

function writeSpan(writer: ProtobufWriter, span: Span): void {
  const { owner, events, link, error } = span;
  if (error !== undefined) {
    const end = writer.length;
    writeNumber(writer, 3, errorStatus);
    writeText(writer, 2, error);
    endMessage(writer, 15, end);
  }
  if (link) {
    const end = writer.length;
    writeContext(writer, link);
    endMessage(writer, 13, end);
  }
  writeNumber(writer, 12, span.droppedEvents);
  for (let i = (events?.length ?? 0) - 1; i >= 0; i--) {
    const end = writer.length;
    writeEvent(writer, events![i]!, owner.epochMs);
    endMessage(writer, 11, end);
  }
  writeAttributes(writer, 9, span.attributes);
  writeTime(writer, 8, owner.epochMs + (span.endMs ?? span.beginMs));
  writeTime(writer, 7, owner.epochMs + span.beginMs);
  writeNumber(writer, 6, span.kind);
  writeText(writer, 5, span.name);
  writeId(writer, 4, span.parentId);
  writeText(writer, 3, owner.traceState);
  writeId(writer, 2, span.id);
  writeId(writer, 1, owner.traceId);
}

function writeEvent(writer: ProtobufWriter, { name, atMs, attributes }: SpanEvent, epochMs: number): void {
  if (attributes) writeAttributes(writer, 3, attributes);
  writeText(writer, 2, name);
  writeTime(writer, 1, epochMs + atMs);
}

function writeContext(writer: ProtobufWriter, { traceId, spanId, traceState }: TraceContext): void {
  writeText(writer, 3, traceState);
  writeId(writer, 2, spanId);
  writeId(writer, 1, traceId);
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: SpanAttributes): void {
  const names = Object.keys(attributes);
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i]!;
    const end = writer.length;
    writeValue(writer, attributes[name]!);
    endMessage(writer, 2, end);
    writeText(writer, 1, name);
    endMessage(writer, field, end);
  }
}

function writeValue(writer: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === 'string') {
    writer.string(value);
    writer.tag(1, wireTypes.bytes);
  } else if (typeof value === 'boolean') {
    writer.boolean(value);
    writer.tag(2, wireTypes.varint);
  } else if (Number.isSafeInteger(value)) {
    writer.integer(value);
    writer.tag(3, wireTypes.varint);
  } else {
    writer.double(value);
    writer.tag(4, wireTypes.fixed64);
  }
}

function writeText(writer: ProtobufWriter, field: number, text: string): void {
  if (text === '') return;
  writer.string(text);
  writer.tag(field, wireTypes.bytes);
}

function writeId(writer: ProtobufWriter, field: number, id: string): void {
  if (id === '') return;
  const size = id.length / 2;
  for (let i = 0; i < size; i++) idBytes[i] = hexDigit(id, 2 * i) * 16 + hexDigit(id, 2 * i + 1);
  writer.slice(idBytes, 0, size);
  writer.varint(size);
  writer.tag(field, wireTypes.bytes);
}

/** Lower case only: as ids are created and read. */
function hexDigit(id: string, at: number): number {
  const code = id.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

/** Writes nanoseconds as two words: a double holds only the microseconds exactly. */
function writeTime(writer: ProtobufWriter, field: number, ms: number): void {
  const us = Math.round(ms * 1_000);
  const low = (us % word) * 1_000;
  fixed64.writeUInt32LE(low % word, 0);
  fixed64.writeUInt32LE(Math.floor(us / word) * 1_000 + Math.floor(low / word), 4);
  writer.slice(fixed64, 0, 8);
  writer.tag(field, wireTypes.fixed64);
}

/** Decodes the number of spans that the collector has refused. */
export const decodeExportResponse = decoder((reader) => {
  let rejected = 0;
  while (reader.next()) {
    if (reader.field === 1) rejected = readNested(reader, readPartialSuccess);
    else reader.skip();
  }
  return rejected;
});

function readPartialSuccess(reader: ProtobufReader): number {
  let rejected = 0;
  while (reader.next()) {
    if (reader.field === 1) rejected = readNumber(reader);
    else reader.skip();
  }
  return rejected;
}
