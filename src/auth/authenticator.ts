import type { UserInfo } from '../machinery/user-info.js';
import type { Cancellation } from '../std/cancellation.js';
import type { RequestSteps } from '../tracing/request-steps.js';

/** Credentials of a request. None is trusted until an authenticator has verified it. */
export interface Credentials {
  readonly bearerToken: string | undefined;
  /** User of the verified client certificate; `refused` if the certificate is invalid, undefined if there is none. */
  readonly certificateUser: UserInfo | 'refused' | undefined;
  /** Common name in the verified certificate of a front proxy, if the request comes from one. */
  readonly proxyName: string | undefined;
  /** All headers, for authenticators that read others than Authorization (front proxy). */
  readonly rawHeaders: readonly string[];
  readonly path: string;
  /** Accepted audiences of a token. Default: those of this server. */
  readonly audiences?: readonly string[];
  /** The request that waits for the result, for authenticators that ask other servers. Its signal is made on first use. */
  readonly caller?: Caller | undefined;
}

/** A request whose end cancels `signal`. */
export interface Caller {
  readonly signal: Cancellation | undefined;
  /** Gets the spans of calls of other servers. */
  readonly steps?: RequestSteps | undefined;
}

/**
 * One method of authentication. Returns `undefined` for credentials of another method, and `rejected` for invalid ones,
 * which fail the request even if anonymous access is enabled.
 */
export interface Authenticator {
  /**
   * `bearer token`: gets only the token, its audiences and the caller, so that its result may be remembered for the token. `request`:
   * gets all credentials, and is asked for every request.
   */
  readonly reads: 'bearer token' | 'request';
  /** True if the authenticator is skipped once another one has rejected the credentials. */
  readonly isLastResort?: boolean;
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>;
}

export type AuthenticationResult = Authenticated | Rejected | undefined;

export interface Authenticated {
  readonly user: UserInfo;
  /** Requested audiences that the credentials are valid for; undefined if the credentials name none. */
  readonly audiences?: readonly string[];
  /** Returns false if a cached result has become invalid. Called before each use, so it only reads memory. */
  readonly isStillValid?: () => boolean;
  /** Annotations of the audit event and warnings for each request with these credentials. */
  readonly notes?: AuthenticationNotes;
}

export interface AuthenticationNotes {
  readonly annotations: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

/** Authenticated by one of several authenticators. */
export interface Accepted extends Authenticated {
  /** The `reads` of that authenticator. */
  readonly reads: Authenticator['reads'];
}

/** A rejection, with a reason for TokenReviews. The client itself only gets a 401. */
export type Rejected = 'rejected' | { readonly rejected: string };

export function isAuthenticated<Result extends AuthenticationResult>(
  result: Result,
): result is Extract<Result, Authenticated> {
  return typeof result === 'object' && 'user' in result;
}

const noCredentials: Credentials = {
  bearerToken: undefined,
  certificateUser: undefined,
  proxyName: undefined,
  rawHeaders: [],
  path: '',
};

/**
 * Returns the result of the first authenticator that accepts the credentials; `rejected` if none did and one rejected.
 */
export async function authenticate(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
): Promise<Accepted | 'rejected' | undefined> {
  const { bearerToken, audiences, caller } = credentials;
  const ofToken: Credentials = { ...noCredentials, bearerToken, caller, ...(audiences && { audiences }) };
  let rejected = false;
  for (const authenticator of authenticators) {
    const { reads } = authenticator;
    if (authenticator.isLastResort && rejected) continue;
    const pending = authenticator.authenticate(reads === 'request' ? credentials : ofToken);
    const result = pending instanceof Promise ? await pending : pending;
    if (isAuthenticated(result)) return { ...result, reads };
    if (result !== undefined) rejected = true;
  }
  return rejected ? 'rejected' : undefined;
}

/** Result of a TokenReview: the user, or the reasons of the rejection. */
export type TokenVerdict =
  { readonly user: UserInfo; readonly audiences: readonly string[] } | { readonly problems: readonly string[] };

/** Authenticates a token for a TokenReview, with the authenticators that read tokens. */
export async function reviewToken(
  authenticators: readonly Authenticator[],
  token: string,
  audiences: { readonly requested: readonly string[]; readonly own: readonly string[] },
  caller?: Caller,
): Promise<TokenVerdict> {
  const accepted = audiences.requested.length > 0 ? audiences.requested : audiences.own;
  const credentials: Credentials = { ...noCredentials, bearerToken: token, audiences: accepted, caller };
  const problems = ['invalid bearer token'];
  for (const authenticator of authenticators) {
    if (authenticator.reads === 'request') continue;
    const result = await authenticator.authenticate(credentials);
    if (isAuthenticated(result)) {
      // A token without audiences is valid for this server.
      const matching = result.audiences ?? accepted.filter((audience) => audiences.own.includes(audience));
      if (matching.length > 0 || accepted.length === 0) return { user: result.user, audiences: matching };
    } else if (typeof result === 'object' && !problems.includes(result.rejected)) problems.push(result.rejected);
  }
  return { problems };
}
