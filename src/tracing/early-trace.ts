import type { OpenSpan, SpanAttributes } from '../std/call-trace.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { RequestTrace } from './request-trace.js';
import type { Span } from './span.js';
import { randomSpanId, randomTraceId, traceHeaders, type TraceContext } from './trace-context.js';
import { unrecordedSpan } from './unsampled-trace.js';

interface Dependencies {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Decides about a request that continues no trace. */
  readonly samples: () => boolean;
}

/** More than the authenticators that call other servers. */
const callsMax = 16;

/**
 * The calls of other servers before the user of a request is known, and so whether the trace of the client is continued.
 * They get the context of a trace of their own, which becomes that of the request unless it continues the client's.
 */
export class EarlyTrace implements RequestTrace {
  readonly calls: EarlyCall[] = [];
  private known: TraceContext | undefined = undefined;

  constructor(private readonly dependencies: Dependencies) {}

  /** The context that a call has got; undefined if there was no call. */
  get context(): TraceContext | undefined {
    return this.known;
  }

  enter(): void {}

  describe(): void {}

  beginPart(): OpenSpan {
    return unrecordedSpan;
  }

  beginCall(name: string, attributes: SpanAttributes): OpenSpan {
    if (this.calls.length >= callsMax) return unrecordedSpan;
    const { clock, rng, samples } = this.dependencies;
    const spanId = randomSpanId(rng);
    const { traceId, isSampled } = (this.known ??= {
      traceId: randomTraceId(rng),
      spanId,
      isSampled: samples(),
      traceState: '',
    });
    const headers = traceHeaders(traceId, spanId, isSampled, '');
    const call = new EarlyCall({ name, attributes, spanId, headers, beginMs: clock.monotonicMs() }, clock);
    this.calls.push(call);
    return call;
  }
}

interface CallFacts {
  readonly name: string;
  readonly attributes: SpanAttributes;
  readonly spanId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly beginMs: number;
}

/** A call whose span is created once its trace is known. */
class EarlyCall implements OpenSpan {
  readonly headers: Readonly<Record<string, string>>;
  private span: Span | undefined = undefined;
  private readonly kept: ((span: Span) => void)[] = [];

  constructor(
    readonly facts: CallFacts,
    private readonly clock: Clock,
  ) {
    this.headers = facts.headers;
  }

  event(name: string, attributes?: SpanAttributes): void {
    const nowMs = this.clock.monotonicMs();
    this.record((span) => span.event(name, attributes, nowMs));
  }

  end(error?: string, nowMs: number = this.clock.monotonicMs()): void {
    this.record((span) => span.end(error, nowMs));
  }

  /** Moves what is recorded into `span`, with what follows. */
  continueIn(span: Span): void {
    this.span = span;
    for (const each of this.kept.splice(0)) each(span);
  }

  private record(step: (span: Span) => void): void {
    if (this.span) step(this.span);
    else if (this.kept.length < recordedMax) this.kept.push(step);
  }
}

/** More than the events of one call with its retries. */
const recordedMax = 32;
