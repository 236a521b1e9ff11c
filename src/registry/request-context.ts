import type { UserInfo } from '../machinery/user-info.js';

/** The request as verbs and stores see it, without HTTP. */
export interface RequestContext {
  readonly user: UserInfo;
  /**
   * The verb by which the request was authorized (`patch` for apply); absent for writes of this server's own
   * components.
   */
  readonly verb?: string;
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal | undefined;
  /** Texts of Warning headers; duplicates are removed before they are sent. */
  readonly warnings: string[];
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly auditAnnotations: Map<string, string>;
}
