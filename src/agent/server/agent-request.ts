import type { AnyRequest, AnyResponse } from '../../connections/raw-messages.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Cancellation } from '../../std/cancellation.js';

/** A request to the agent that is authenticated and authorized. */
export interface AgentRequest {
  readonly raw: AnyRequest;
  readonly response: AnyResponse;
  readonly method: string;
  /** Decoded. */
  readonly path: string;
  /** Decoded parameters of the route, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  /** Ends when the client leaves. */
  readonly signal: Cancellation;
}

/** An error that is answered with its text. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  constructor(
    readonly status: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
