import type { UserInfo } from '../machinery/user-info.js';

/** What the verbs know of the request they serve. No HTTP. */
export interface RequestContext {
  readonly user: UserInfo;
  /** As authorizers know it (`patch` for apply); absent where a part of this server writes. */
  readonly verb?: string;
  /** Aborted when the client is gone or the deadline has passed. */
  readonly signal: AbortSignal | undefined;
  /** Texts for Warning headers; the shell sends each once. */
  readonly warnings: string[];
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly auditAnnotations: Map<string, string>;
}
