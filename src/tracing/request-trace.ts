import type { CallTrace, OpenSpan, SpanAttributes } from '../std/call-trace.js';
import type { Step } from './step.js';

/** The spans of one request. */
export interface RequestTrace extends CallTrace {
  /** Ends the span of the step before, and begins that of `step`. */
  enter(step: Step, nowMs: number): void;
  /** Adds attributes to the span of the step. */
  describe(attributes: SpanAttributes): void;
  /** Begins a part of the step; spans that begin before it ends are below it. */
  beginPart(name: string, attributes?: SpanAttributes): OpenSpan;
}
