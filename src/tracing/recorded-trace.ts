import type { Rng } from '../std/rng.js';
import type { Clock } from '../std/clock.js';
import type { EarlyTrace } from './early-trace.js';
import type { Step } from './step.js';
import type { OpenSpan, SpanAttributes } from '../std/call-trace.js';
import type { RequestTrace } from './request-trace.js';
import { Span, spanKinds, type SpanOwner } from './span.js';
import { randomSpanId, randomTraceId, type TraceContext } from './trace-context.js';
import { unrecordedSpan } from './unsampled-trace.js';

/** Facts of a request for its spans. */
export interface TracedRequest {
  /** Time of the monotonic clock at which it began. */
  readonly startMs: number;
  /** Name of its span, and of the span of its verb; the second is absent for requests that have no resource. */
  readonly spanName: string;
  readonly verbSpan: string | undefined;
  readonly attributes: SpanAttributes;
  readonly verbAttributes: () => SpanAttributes;
}

interface Dependencies {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ended: (span: Span) => void;
  /** Called for each span that is left out of a trace that has too many. */
  readonly leftOut: () => void;
}

/** The trace that a request continues: as a part of it, or as a new one with a link. */
export interface Origin {
  readonly parent: TraceContext | undefined;
  readonly link: TraceContext | undefined;
}

/** A request that deletes a collection could have a hundred thousand. */
const spansMax = 1_000;

/** Names of the spans of steps; the rest of a verb is the span of the verb itself. As in kube-apiserver, where it has them. */
const stepSpans: Readonly<Record<Step, string | undefined>> = {
  authentication: 'authentication',
  impersonation: 'impersonation',
  flowControl: 'priorityandfairness',
  authorization: 'authorization',
  handling: undefined,
  body: 'ReadBody',
  decode: 'Decode',
  admission: 'Admission',
  cache: 'ReadCache',
  store: 'Store',
  encode: 'SerializeObject',
  write: 'WriteResponse',
};

/** Events of the verb's span when a step begins and when it has ended; the names of kube-apiserver. */
const beginEvents: Readonly<Partial<Record<Step, string>>> = {
  decode: 'About to convert to expected version',
  cache: 'About to Get from storage',
  store: 'About to store object in database',
  encode: 'About to write a response',
};
const endEvents: Readonly<Partial<Record<Step, string>>> = {
  body: 'limitedReadBody succeeded',
  decode: 'Conversion done',
  store: 'Write to database call succeeded',
  write: 'Writing http response done',
};

/** Records the spans of one sampled request. */
export class RecordedTrace implements RequestTrace, SpanOwner {
  readonly traceId: string;
  readonly traceState: string;
  readonly epochMs: number;
  private readonly root: Span;
  private verb: Span | undefined = undefined;
  private step: Step = 'authentication';
  private stepSpan: Span | undefined = undefined;
  /** The span that new ones are below. */
  private current: Span;
  private spans = 0;
  private isOver = false;

  constructor(
    private readonly request: TracedRequest,
    { parent, link }: Origin,
    private readonly dependencies: Dependencies,
    /** The calls before the user was known. */
    early?: EarlyTrace,
  ) {
    const { clock, rng } = dependencies;
    this.traceId = parent?.traceId ?? early?.context?.traceId ?? randomTraceId(rng);
    this.traceState = parent?.traceState ?? '';
    this.epochMs = clock.now() - clock.monotonicMs();
    const { spanName, startMs, attributes } = request;
    const id = randomSpanId(rng);
    this.root = new Span(this, spanName, spanKinds.server, id, parent?.spanId ?? '', startMs, attributes);
    this.root.link = link;
    this.current = this.root;
    this.stepSpan = this.child(stepSpans.authentication!, spanKinds.internal, startMs);
    for (const call of early?.calls ?? []) this.adopt(call, this.stepSpan!);
  }

  nowMs(): number {
    return this.dependencies.clock.monotonicMs();
  }

  ended(span: Span): void {
    this.dependencies.ended(span);
  }

  enter(step: Step, nowMs: number): void {
    // An answer that has waited for a conversion continues its step.
    if (this.isOver || (step === this.step && this.stepSpan)) return;
    this.leave(nowMs);
    this.step = step;
    const { verbSpan, verbAttributes } = this.request;
    if (step === 'handling' && verbSpan !== undefined && !this.verb) {
      this.current = this.root;
      this.verb = this.child(verbSpan, spanKinds.internal, nowMs, verbAttributes());
    }
    this.current = this.verb ?? this.root;
    const event = beginEvents[step];
    if (event !== undefined) this.verb?.event(event, undefined, nowMs);
    const name = stepSpans[step];
    if (name === undefined) return;
    this.stepSpan = this.child(name, spanKinds.internal, nowMs);
    this.current = this.stepSpan ?? this.current;
  }

  describe(attributes: SpanAttributes): void {
    this.stepSpan?.add(attributes);
  }

  beginPart(name: string, attributes?: SpanAttributes): OpenSpan {
    const above = this.current;
    const span = this.child(name, spanKinds.internal, this.nowMs(), attributes);
    if (!span) return unrecordedSpan;
    this.current = span;
    return {
      headers: {},
      event: (event, details) => span.event(event, details),
      end: (error, nowMs) => {
        span.end(error, nowMs);
        // Parts that run at once, as of a deleted collection, may end in another order.
        if (this.current === span) this.current = above;
      },
    };
  }

  beginCall(name: string, attributes: SpanAttributes): OpenSpan {
    return this.child(name, spanKinds.client, this.nowMs(), attributes) ?? unrecordedSpan;
  }

  /** Ends all spans. `error` is the status text of an answer with 500 and above. */
  end(attributes: SpanAttributes, error: string | undefined, nowMs: number): void {
    if (this.isOver) return;
    this.leave(nowMs);
    this.isOver = true;
    this.verb?.end(undefined, nowMs);
    this.root.add(attributes);
    this.root.end(error, nowMs);
  }

  private adopt(call: EarlyTrace['calls'][number], above: Span): void {
    const { name, spanId, beginMs, attributes } = call.facts;
    this.spans++;
    call.continueIn(new Span(this, name, spanKinds.client, spanId, above.id, beginMs, attributes));
  }

  private leave(nowMs: number): void {
    const event = endEvents[this.step];
    if (event !== undefined) this.verb?.event(event, undefined, nowMs);
    this.stepSpan?.end(undefined, nowMs);
    this.stepSpan = undefined;
  }

  private child(name: string, kind: Span['kind'], beginMs: number, attributes?: SpanAttributes): Span | undefined {
    if (this.isOver) return undefined;
    if (this.spans >= spansMax) {
      this.dependencies.leftOut();
      return undefined;
    }
    this.spans++;
    return new Span(this, name, kind, randomSpanId(this.dependencies.rng), this.current.id, beginMs, attributes);
  }
}
