import type { Step } from './step.js';

export type AttributeValue = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, AttributeValue>>;

/** A span that its caller ends. */
export interface OpenSpan {
  /** `traceparent` and `tracestate` for a request of this span to another server. */
  readonly headers: Readonly<Record<string, string>>;
  event(name: string, attributes?: SpanAttributes): void;
  /** Ends the span; `error` marks it as failed. Later calls do nothing. */
  end(error?: string, nowMs?: number): void;
}

/** The spans of one request. */
export interface RequestTrace {
  /** Ends the span of the step before, and begins that of `step`. */
  enter(step: Step, nowMs: number): void;
  /** Adds attributes to the span of the step. */
  describe(attributes: SpanAttributes): void;
  /** Begins a part of the step; spans that begin before it ends are below it. */
  beginPart(name: string, attributes?: SpanAttributes): OpenSpan;
  /** Begins a call of another server. Calls may run at once. */
  beginCall(name: string, attributes: SpanAttributes): OpenSpan;
}
