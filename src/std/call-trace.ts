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

/** Records calls of other servers. For code that knows no more of the request that it works for. */
export interface CallTrace {
  /** Begins a call of another server. Calls may run at once. */
  beginCall(name: string, attributes: SpanAttributes): OpenSpan;
}

/** Runs a call of another server, in a span if its request has a trace. */
export async function tracedCall<T>(
  trace: CallTrace | undefined,
  name: string,
  attributes: SpanAttributes,
  call: (span: OpenSpan | undefined) => Promise<T>,
): Promise<T> {
  const span = trace?.beginCall(name, attributes);
  if (!span) return call(undefined);
  try {
    const result = await call(span);
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.message : String(error));
    throw error;
  }
}
