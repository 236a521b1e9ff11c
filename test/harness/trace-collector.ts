import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message: string };
  /** Attributes of the server. */
  readonly resource: Attributes;
}

/** `hang` takes requests and never answers; the others answer with an error, with no message, with one of 10 MB, or not at all. */
export type CollectorBehaviour = 'ok' | 'hang' | 'refuse' | 'garbage' | 'huge' | 'drop';

/** A part of opentelemetry/proto, so that the spans are decoded by another implementation than the one that wrote them. */
const field = (type: string, id: number, rule?: string) => ({ type, id, ...(rule !== undefined && { rule }) });
const exportRequest = protobuf.Root.fromJSON({
  nested: {
    AnyValue: {
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
      },
    },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    Event: {
      fields: { time: field('fixed64', 1), name: field('string', 2), attributes: field('KeyValue', 3, 'repeated') },
    },
    Link: { fields: { traceId: field('bytes', 1), spanId: field('bytes', 2), traceState: field('string', 3) } },
    Status: { fields: { message: field('string', 2), code: field('int32', 3) } },
    Span: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        traceState: field('string', 3),
        parentSpanId: field('bytes', 4),
        name: field('string', 5),
        kind: field('int32', 6),
        start: field('fixed64', 7),
        end: field('fixed64', 8),
        attributes: field('KeyValue', 9, 'repeated'),
        events: field('Event', 11, 'repeated'),
        links: field('Link', 13, 'repeated'),
        status: field('Status', 15),
      },
    },
    Resource: { fields: { attributes: field('KeyValue', 1, 'repeated') } },
    ScopeSpans: { fields: { spans: field('Span', 2, 'repeated') } },
    ResourceSpans: { fields: { resource: field('Resource', 1), scopeSpans: field('ScopeSpans', 2, 'repeated') } },
    ExportRequest: { fields: { resourceSpans: field('ResourceSpans', 1, 'repeated') } },
  },
}).lookupType('ExportRequest');

const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const frameHeaderBytes = 5;
const huge = 10 * 1024 * 1024;

/** An OpenTelemetry collector: OTLP over gRPC without TLS. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** Number of calls, with those that it did not answer. */
  calls = 0;
  behaviour: CollectorBehaviour = 'ok';
  private readonly sessions = new Set<ServerHttp2Session>();

  private constructor(private readonly server: Http2Server) {
    server.on('session', (session) => {
      this.sessions.add(session);
      session.on('error', () => undefined);
      session.on('close', () => this.sessions.delete(session));
    });
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      if (headers[':path'] === path) void this.receive(stream);
      else stream.respond({ ':status': 404 }, { endStream: true });
    });
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TraceCollector(server);
  }

  /** `127.0.0.1:4317` */
  get endpoint(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Returns the spans of the trace of the request with this audit id, the first one first. */
  traceOf(auditId: string): readonly CollectedSpan[] {
    const root = this.spans.find(({ attributes, kind }) => kind === server && attributes['audit-id'] === auditId);
    if (!root) return [];
    return this.spans
      .filter(({ traceId }) => traceId === root.traceId)
      .sort((a, b) => Number(b === root) - Number(a === root) || a.startMs - b.startMs);
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(stream: ServerHttp2Stream): Promise<void> {
    this.calls++;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of stream) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    if (this.behaviour === 'hang') return;
    if (this.behaviour === 'drop') return stream.session?.destroy();
    if (this.behaviour === 'ok') this.spans.push(...spansOf(Buffer.concat(chunks).subarray(frameHeaderBytes)));
    respond(stream, this.behaviour);
  }
}

const server = 2;

function respond(stream: ServerHttp2Stream, behaviour: CollectorBehaviour): void {
  const refused = behaviour === 'refuse';
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () =>
    stream.sendTrailers(refused ? { 'grpc-status': '3', 'grpc-message': 'no'.repeat(5_000) } : { 'grpc-status': '0' }),
  );
  if (refused) return void stream.end();
  stream.end(behaviour === 'garbage' ? Buffer.from('no message') : framed(behaviour === 'huge' ? huge : 0));
}

function framed(length: number): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + length);
  frame.writeUInt32BE(length, 1);
  return frame;
}

interface RawAttribute {
  readonly key: string;
  readonly value?: Readonly<Record<string, string | number | boolean>>;
}

/** A span as protobufjs decodes it: absent fields have their defaults. */
interface RawSpan {
  readonly traceId?: readonly number[];
  readonly spanId?: readonly number[];
  readonly parentSpanId?: readonly number[];
  readonly traceState?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly start: string;
  readonly end: string;
  readonly attributes: readonly RawAttribute[];
  readonly events: readonly { readonly name: string; readonly attributes: readonly RawAttribute[] }[];
  readonly links: readonly { readonly traceId: readonly number[]; readonly spanId: readonly number[] }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface RawRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly RawAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

function spansOf(message: Buffer): CollectedSpan[] {
  const options = { longs: String, bytes: Array, arrays: true };
  const { resourceSpans } = exportRequest.toObject(exportRequest.decode(message), options) as RawRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(span, attributesOf(resource.attributes)))),
  );
}

function collected(span: RawSpan, resource: Attributes): CollectedSpan {
  const { traceId, spanId, parentSpanId, traceState = '', name = '', kind = 0, status = {} } = span;
  return {
    traceId: hex(traceId),
    spanId: hex(spanId),
    parentSpanId: hex(parentSpanId),
    traceState,
    name,
    kind,
    startMs: Number(BigInt(span.start) / 1_000n) / 1_000,
    endMs: Number(BigInt(span.end) / 1_000n) / 1_000,
    attributes: attributesOf(span.attributes),
    events: span.events.map((event) => ({ name: event.name, attributes: attributesOf(event.attributes) })),
    links: span.links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    status: { code: status.code ?? 0, message: status.message ?? '' },
    resource,
  };
}

const hex = (bytes: readonly number[] = []): string => Buffer.from(bytes).toString('hex');

/** Integers are texts, since a number cannot hold all of them. */
function attributesOf(list: readonly RawAttribute[]): Attributes {
  return Object.fromEntries(
    list.map(({ key, value = {} }) => [
      key,
      'intValue' in value ? Number(value['intValue']) : (Object.values(value)[0] ?? ''),
    ]),
  );
}
