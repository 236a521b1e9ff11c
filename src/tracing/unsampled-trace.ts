import type { Rng } from '../std/rng.js';
import type { OpenSpan } from '../std/call-trace.js';
import type { RequestTrace } from './request-trace.js';
import { randomSpanId, randomTraceId, traceHeaders, type TraceContext } from './trace-context.js';

/** The trace of a request that is not sampled: other servers that it calls get its context, and record nothing either. */
export class UnsampledTrace implements RequestTrace {
  private known: Readonly<Record<string, string>> | undefined = undefined;

  constructor(
    private readonly rng: Rng,
    /** The context of the client, if it is continued. */
    private readonly parent: TraceContext | undefined,
  ) {}

  get headers(): Readonly<Record<string, string>> {
    const { parent, rng } = this;
    return (this.known ??= traceHeaders(
      parent?.traceId ?? randomTraceId(rng),
      randomSpanId(rng),
      false,
      parent?.traceState ?? '',
    ));
  }

  enter(): void {}

  describe(): void {}

  beginPart(): OpenSpan {
    return unrecordedSpan;
  }

  beginCall(): OpenSpan {
    return { ...unrecordedSpan, headers: this.headers };
  }
}

/** A span that is not recorded. */
export const unrecordedSpan: OpenSpan = { headers: {}, event: () => undefined, end: () => undefined };
