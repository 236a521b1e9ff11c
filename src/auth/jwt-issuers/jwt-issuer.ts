import { allAuthenticated, userNames, type UserInfo } from '../../machinery/user-info.js';
import { int64Max } from '../../machinery/int64.js';
import type { Clock } from '../../std/clock.js';
import type { JwtConfiguration } from '../configuration/jwt-configuration.js';
import type { Jwt } from '../jwt.js';
import { userOfClaims } from './claim-mapper.js';
import type { IssuerKeys } from './issuer-keys.js';
import { Rejection, reject } from './rejection.js';
import { isSignatureAlgorithm, type SignatureAlgorithm } from './signature-algorithms.js';

/** For clocks of issuers that are ahead. `exp` has none, as in kube-apiserver. */
const notBeforeLeewaySeconds = 60;

interface VerifiedToken {
  readonly user: UserInfo;
  readonly expiresAtMs: number;
}

interface Dependencies {
  readonly configuration: JwtConfiguration;
  readonly keys: IssuerKeys;
  readonly clock: Clock;
  /** Key in `extra` of the id of the token. */
  readonly credentialIdKey: string;
}

/** Authenticates the tokens of one issuer. */
export class JwtIssuer {
  constructor(private readonly dependencies: Dependencies) {}

  get keys(): IssuerKeys {
    return this.dependencies.keys;
  }

  /** Verifies a token whose `iss` names this issuer. */
  async authenticate(jwt: Jwt): Promise<VerifiedToken | Rejection> {
    const { configuration, keys, clock, credentialIdKey } = this.dependencies;
    try {
      const algorithm = algorithmOf(jwt, configuration.algorithms);
      if (!keys.isReady) reject('not ready', 'the keys of the issuer have not been fetched yet');
      if (!(await keys.verify(jwt, algorithm))) reject('signature', 'no key of the issuer verifies the signature');
      const expiresAtMs = validUntilMs(jwt, clock);
      checkAudience(jwt, configuration.audiences);
      const { sub } = jwt.payload;
      if (sub !== undefined && sub !== null && typeof sub !== 'string') reject('claims', 'claim "sub" is not a string');
      const user = userOfClaims(jwt.payload, configuration, credentialIdKey);
      return { user: withAuthenticatedGroup(user), expiresAtMs };
    } catch (error) {
      if (error instanceof Rejection) return error;
      throw error;
    }
  }
}

function algorithmOf({ header }: Jwt, allowed: ReadonlySet<SignatureAlgorithm>): SignatureAlgorithm {
  const { alg, kid, crit } = header;
  if (crit !== undefined) reject('header', 'the token has critical header fields, which are not supported');
  if (kid !== undefined && typeof kid !== 'string') reject('header', 'the header field "kid" is not a string');
  return isSignatureAlgorithm(alg) && allowed.has(alg)
    ? alg
    : reject('header', 'the token is signed with an algorithm that is not allowed');
}

/** Checks `exp`, `nbf` and `iat`. Returns the time of expiration. */
function validUntilMs({ payload: { exp, nbf, iat } }: Jwt, clock: Clock): number {
  const nowSeconds = clock.now() / 1000;
  const expiresAt = secondsOf(exp, 'exp') ?? reject('time', 'the token has no expiration');
  if (expiresAt < nowSeconds) reject('time', 'the token has expired');
  const notBefore = secondsOf(nbf, 'nbf') ?? -Infinity;
  if (notBefore > nowSeconds + notBeforeLeewaySeconds) reject('time', 'the token is not valid yet');
  if (iat === null) reject('claims', 'claim "iat" is not a number');
  secondsOf(iat, 'iat');
  return expiresAt * 1000;
}

function secondsOf(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' && typeof value !== 'bigint')
    return reject('claims', `claim "${name}" is not a number`);
  const seconds = Number(value);
  // kube-apiserver holds it in an int64.
  return Math.abs(seconds) <= Number(int64Max) ? seconds : reject('claims', `claim "${name}" is out of range`);
}

function checkAudience({ payload: { aud } }: Jwt, accepted: readonly string[]): void {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.every((audience) => typeof audience === 'string')) {
    reject('claims', 'claim "aud" is not a string or a list of strings');
  }
  if (!audiences.some((audience) => accepted.includes(audience))) {
    reject('audience', 'the token is for other audiences than those of the configuration');
  }
}

function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.name === userNames.anonymous || user.groups.includes(allAuthenticated)) return user;
  return { ...user, groups: [...user.groups, allAuthenticated] };
}
