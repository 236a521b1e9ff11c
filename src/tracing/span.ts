import type { OpenSpan, SpanAttributes } from '../std/call-trace.js';
import { traceHeaders, type TraceContext } from './trace-context.js';

/** The numbers of OTLP. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
type SpanKind = (typeof spanKinds)[keyof typeof spanKinds];

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: SpanAttributes | undefined;
}

/** The trace that a span belongs to. */
export interface SpanOwner {
  readonly traceId: string;
  readonly traceState: string;
  /** Time since the epoch at zero of the monotonic clock. */
  readonly epochMs: number;
  nowMs(): number;
  /** Called once for each span. */
  ended(span: Span): void;
}

/** Bounds of a span, so that a batch of the largest ones stays below the 4 MiB that a collector accepts. */
const textLengthMax = 1024;
const eventsMax = 32;

/** One span. Times are those of the monotonic clock. */
export class Span implements OpenSpan {
  attributes: SpanAttributes;
  events: SpanEvent[] | undefined = undefined;
  droppedEvents = 0;
  /** The trace of the client, if it is not continued. */
  link: TraceContext | undefined = undefined;
  /** Set if the span has failed. */
  error: string | undefined = undefined;
  endMs: number | undefined = undefined;

  constructor(
    readonly owner: SpanOwner,
    readonly name: string,
    readonly kind: SpanKind,
    readonly id: string,
    readonly parentId: string,
    readonly beginMs: number,
    attributes: SpanAttributes = {},
  ) {
    this.attributes = bounded(attributes);
  }

  get headers(): Readonly<Record<string, string>> {
    return traceHeaders(this.owner.traceId, this.id, true, this.owner.traceState);
  }

  add(attributes: SpanAttributes): void {
    this.attributes = { ...this.attributes, ...bounded(attributes) };
  }

  event(name: string, attributes?: SpanAttributes, atMs: number = this.owner.nowMs()): void {
    if (this.endMs !== undefined) return;
    this.events ??= [];
    if (this.events.length >= eventsMax) this.droppedEvents++;
    else this.events.push({ name, atMs, attributes: attributes && bounded(attributes) });
  }

  end(error?: string, nowMs: number = this.owner.nowMs()): void {
    if (this.endMs !== undefined) return;
    this.endMs = nowMs;
    if (error !== undefined) this.error = error.slice(0, textLengthMax);
    this.owner.ended(this);
  }
}

function bounded(attributes: SpanAttributes): SpanAttributes {
  for (const name in attributes) {
    const value = attributes[name]!;
    if (typeof value === 'string' && value.length > textLengthMax) return cut(attributes);
  }
  return attributes;
}

function cut(attributes: SpanAttributes): SpanAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, textLengthMax) : value,
    ]),
  );
}
