import type { DeleteOptions } from '../machinery/delete-options.js';
import type { WriteOptions } from '../machinery/write-options.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { Cancellation } from '../std/cancellation.js';
import type { RequestSteps } from '../tracing/request-steps.js';
import type { AdmissionTrace } from './admission-trace.js';
import type { RequestRecord } from './request-record.js';

/**
 * The request as verbs and stores see it, without HTTP. Copy it by withOptions(): properties may be getters, which a
 * spread would lose.
 */
export interface RequestContext {
  readonly user: UserInfo;
  /**
   * The verb by which the request was authorized (`patch` for apply); absent for writes of this server's own
   * components.
   */
  readonly verb?: string;
  /**
   * Cancelled when the client disconnects or the deadline passes; `abortSignalOf` makes an AbortSignal of it, for
   * functions such as `fetch`.
   */
  readonly signal: Cancellation | undefined;
  /** Texts of Warning headers; duplicates are removed before they are sent. */
  readonly warnings: string[];
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly auditAnnotations: Map<string, string>;
  /** The options as the client sent them, for admission; absent for reads and for writes of this server's components. */
  readonly options?: WriteOptions | DeleteOptions | undefined;
  /** Receives the steps of the request, for the log of slow requests and for traces; absent for writes of this server. */
  readonly steps?: RequestSteps | undefined;
  /** Set if the client asked for an explanation of admission. */
  readonly trace?: AdmissionTrace | undefined;
  /** Set if the request is recorded in the audit log. */
  readonly record?: RequestRecord | undefined;
}

/** Returns the same request with other options. Its signal and audit annotations are still created on first use. */
export function withOptions(
  context: RequestContext,
  changes: Partial<Pick<RequestContext, 'dryRun' | 'fieldManager'>>,
): RequestContext {
  const { user, verb, warnings, dryRun, fieldManager, options, steps, trace, record } = context;
  return {
    user,
    ...(verb !== undefined && { verb }),
    get signal() {
      return context.signal;
    },
    warnings,
    dryRun,
    fieldManager,
    ...(options && { options }),
    ...(steps && { steps }),
    ...(trace && { trace }),
    ...(record && { record }),
    get auditAnnotations() {
      return context.auditAnnotations;
    },
    ...changes,
  };
}
