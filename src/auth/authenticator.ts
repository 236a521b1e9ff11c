import type { UserInfo } from '../machinery/user-info.js';

/** What an authenticator may look at. Nothing of it says who the user is until one of them does. */
export interface Credentials {
  readonly bearerToken: string | undefined;
  /** The identity of the client certificate, when the connection carries one; refused when it is not to be trusted. */
  readonly certificateUser: UserInfo | 'refused' | undefined;
  /** The common name in the verified certificate of a proxy in front, when the request comes from one. */
  readonly proxyName: string | undefined;
  /** For methods that read other headers (a proxy in front). */
  readonly rawHeaders: readonly string[];
  readonly path: string;
  /** Whom a token must be meant for; the server itself when not said. */
  readonly audiences?: readonly string[];
}

/**
 * One way to say who sends a request. `undefined`: these are not its credentials, ask the next one.
 * `rejected`: they are, and they are wrong; the request is refused although anonymous access may be on.
 */
export interface Authenticator {
  readonly name: string;
  /** Only asked when nobody was given wrong credentials. */
  readonly isLastResort?: boolean;
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>;
}

export type AuthenticationResult = Authenticated | Rejected | undefined;

export interface Authenticated {
  readonly user: UserInfo;
  /** Those of the asked audiences that the credentials are meant for, where they name any. */
  readonly audiences?: readonly string[];
  /** Whether a result that was remembered still holds; asked before each use, so it only looks at memory. */
  readonly isStillTrue?: () => boolean;
}

/** With a reason where one may be told; the client itself only ever learns that it was refused. */
export type Rejected = 'rejected' | { readonly rejected: string };

export function isAuthenticated(result: AuthenticationResult): result is Authenticated {
  return typeof result === 'object' && 'user' in result;
}

/** The union: the first that knows the user decides; a bad credential is only final when nobody else takes it. */
export async function authenticate(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
): Promise<AuthenticationResult> {
  let rejected = false;
  for (const authenticator of authenticators) {
    if (authenticator.isLastResort && rejected) continue;
    const pending = authenticator.authenticate(credentials);
    const result = pending instanceof Promise ? await pending : pending;
    if (isAuthenticated(result)) return result;
    if (result !== undefined) rejected = true;
  }
  return rejected ? 'rejected' : undefined;
}

/** What a review of a token tells: unlike the client, whoever asks for one learns why it is refused. */
export type TokenVerdict =
  { readonly user: UserInfo; readonly audiences: readonly string[] } | { readonly problems: readonly string[] };

/** Every way to know a user by a token, and nothing else: `audiences` are those that the token must name one of. */
export async function reviewToken(
  authenticators: readonly Authenticator[],
  token: string,
  audiences: { readonly asked: readonly string[]; readonly own: readonly string[] },
): Promise<TokenVerdict> {
  const wanted = audiences.asked.length > 0 ? audiences.asked : audiences.own;
  const credentials: Credentials = {
    bearerToken: token,
    certificateUser: undefined,
    proxyName: undefined,
    rawHeaders: [],
    path: '',
    audiences: wanted,
  };
  const problems = ['invalid bearer token'];
  for (const authenticator of authenticators) {
    if (authenticator.isLastResort) continue;
    const result = await authenticator.authenticate(credentials);
    if (isAuthenticated(result)) {
      // A token that names no audience is one for the server itself.
      const matching = result.audiences ?? wanted.filter((audience) => audiences.own.includes(audience));
      if (matching.length > 0 || wanted.length === 0) return { user: result.user, audiences: matching };
    } else if (typeof result === 'object' && !problems.includes(result.rejected)) problems.push(result.rejected);
  }
  return { problems };
}
