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

export type AuthenticationResult = { readonly user: UserInfo } | 'rejected' | undefined;

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
    if (result === 'rejected') rejected = true;
    else if (result !== undefined) return result;
  }
  return rejected ? 'rejected' : undefined;
}
