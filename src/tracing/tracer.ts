import { groupNames, privilegedGroup } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { EarlyTrace } from './early-trace.js';
import { RecordedTrace, type Origin } from './recorded-trace.js';
import type { Span } from './span.js';
import type { SpanExporter } from './span-exporter.js';
import type { RequestTrace } from './request-trace.js';
import { readTraceContext } from './trace-context.js';
import { tracedRequest, type DescribedRequest } from './traced-request.js';
import { UnsampledTrace } from './unsampled-trace.js';

interface Decision extends Origin {
  readonly isSampled: boolean;
  /** The calls of authentication. */
  readonly early: EarlyTrace | undefined;
}

const notSampled: Decision = { isSampled: false, parent: undefined, link: undefined, early: undefined };

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

interface TracerOptions {
  /** Part of the requests that are sampled, of those that continue no sampled trace. */
  readonly samplingRate: number;
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  readonly rng: Rng;
}

const million = 1_000_000;

/** Decides which requests are sampled, and creates their traces. */
export class Tracer {
  private readonly perMillion: number;
  private readonly early: ConstructorParameters<typeof EarlyTrace>[0];

  constructor(private readonly options: TracerOptions) {
    this.perMillion = Math.round(options.samplingRate * million);
    this.early = { ...options, samples: () => this.samples() };
  }

  /**
   * The trace of a member of system:masters or system:monitoring is continued, and sampled if it is. As in kube-apiserver,
   * other clients cannot make the server sample: their requests begin a trace of their own, with a link to the client's.
   */
  decide(headers: Headers, groups: readonly string[], begun: RequestTrace | undefined): Decision {
    const early = begun instanceof EarlyTrace ? begun : undefined;
    const { traceparent } = headers;
    const context = traceparent === undefined ? undefined : readTraceContext(traceparent, headers['tracestate']);
    if (context && isTrusted(groups)) return { isSampled: context.isSampled, parent: context, link: undefined, early };
    // A server that was called already knows the decision.
    const isSampled = early?.context ? early.context.isSampled : this.samples();
    if (!isSampled) return notSampled;
    return { isSampled, parent: undefined, link: context, early };
  }

  /** Returns the trace of a request until its user is known. */
  begin(): EarlyTrace {
    return new EarlyTrace(this.early);
  }

  record(decision: Decision, request: DescribedRequest): RecordedTrace {
    const { clock, rng, exporter } = this.options;
    const dependencies = {
      clock,
      rng,
      ended: (span: Span) => exporter.add(span),
      leftOut: () => exporter.leaveOut(),
    };
    return new RecordedTrace(tracedRequest(request), decision, dependencies, decision.early);
  }

  /** Returns the trace of a request that is not sampled. */
  pass({ parent }: Origin): UnsampledTrace {
    return new UnsampledTrace(this.options.rng, parent);
  }

  private samples(): boolean {
    return this.perMillion > 0 && this.options.rng.below(million) < this.perMillion;
  }
}

const isTrusted = (groups: readonly string[]): boolean =>
  groups.includes(privilegedGroup) || groups.includes(groupNames.monitoring);
