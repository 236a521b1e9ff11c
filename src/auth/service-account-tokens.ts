import { asFields, asNumber, asText, asTexts, isSet } from '../machinery/fields.js';
import { isGenuine, readJwt, signJwt, type Jwt } from './jwt.js';
import type { TokenKeys } from './token-keys.js';

/** An object that a token is bound to; the token becomes invalid with it. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** ServiceAccount of a token, and the objects that it is bound to. */
export interface TokenSubject {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly pod?: NamedObject | undefined;
  readonly secret?: NamedObject | undefined;
  /** Node of the Pod; without a Pod, the Node that the token is bound to. */
  readonly node?: { readonly name: string; readonly uid?: string } | undefined;
}

export interface TokenClaims extends TokenSubject {
  readonly id: string;
  readonly audiences: readonly string[];
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
  /** Time in seconds after which the client should have renewed the token; 0 if the token has none. */
  readonly warnAfter: number;
}

/** Limits on the validity of new tokens. */
export interface TokenLimits {
  /** 0 for no maximum. */
  readonly lifeSecondsMax: number;
  /** Validity of tokens of Pods that are extended; 0 if none are. */
  readonly extendedLifeSecondsMax: number;
}

const noLimits: TokenLimits = { lifeSecondsMax: 0, extendedLifeSecondsMax: 0 };

interface Dependencies {
  /** Accepted issuers. The first one is the issuer of new tokens. */
  readonly issuers: readonly string[];
  /** Name of the private claim: `kubernetes.io`. */
  readonly privateClaim: string;
  /** Returns the keys. Pending while a key is generated. */
  readonly keys: () => Promise<TokenKeys>;
  readonly limits?: TokenLimits;
}

/** Issues and reads service account tokens of the TokenRequest API (KEP-1205, KEP-4193). */
export class ServiceAccountTokens {
  constructor(private readonly dependencies: Dependencies) {}

  get issuer(): string {
    return this.dependencies.issuers[0]!;
  }

  get limits(): TokenLimits {
    return this.dependencies.limits ?? noLimits;
  }

  keys(): Promise<TokenKeys> {
    return this.dependencies.keys();
  }

  async issue(
    subject: TokenSubject,
    life: {
      readonly id: string;
      readonly audiences: readonly string[];
      readonly nowSeconds: number;
      readonly seconds: number;
      /** Time after which the client should renew the token, although it is valid for longer. */
      readonly warnAfterSeconds?: number | undefined;
    },
  ): Promise<string> {
    const { id, audiences, nowSeconds, seconds, warnAfterSeconds } = life;
    const { namespace, account, pod, secret, node } = subject;
    const payload = {
      aud: audiences,
      exp: nowSeconds + seconds,
      iat: nowSeconds,
      iss: this.issuer,
      jti: id,
      [this.dependencies.privateClaim]: {
        namespace,
        ...(node && { node }),
        ...(pod && { pod }),
        ...(secret && { secret }),
        serviceaccount: account,
        ...(warnAfterSeconds !== undefined && { warnafter: nowSeconds + warnAfterSeconds }),
      },
      nbf: nowSeconds,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    };
    return signJwt(payload, await this.dependencies.keys());
  }

  /** Returns the claims of a verified token, `forged` if its signature is invalid, undefined for other issuers. */
  async read(token: string): Promise<TokenClaims | 'forged' | undefined> {
    const jwt = readJwt(token);
    if (!jwt || !this.dependencies.issuers.includes(asText(jwt.payload.iss))) return undefined;
    if (!(await isGenuine(jwt, await this.dependencies.keys()))) return 'forged';
    return claimsOf(jwt, this.dependencies.privateClaim);
  }
}

/** The private claim as decoded: fields of any type. */
interface PrivateClaim {
  readonly namespace?: unknown;
  readonly serviceaccount?: unknown;
  readonly pod?: unknown;
  readonly secret?: unknown;
  readonly node?: unknown;
  readonly warnafter?: unknown;
}

function claimsOf({ payload }: Jwt, privateClaim: string): TokenClaims | 'forged' {
  const own: PrivateClaim = asFields(payload[privateClaim]);
  const account = namedObject(own.serviceaccount);
  const namespace = asText(own.namespace);
  const { aud, sub, jti, iat, nbf, exp } = payload;
  if (!account || sub !== `system:serviceaccount:${namespace}:${account.name}`) return 'forged';
  return {
    namespace,
    account,
    pod: namedObject(own.pod),
    secret: namedObject(own.secret),
    node: namedObject(own.node),
    id: asText(jti),
    audiences: typeof aud === 'string' ? [aud] : asTexts(aud),
    issuedAt: asNumber(iat),
    notBefore: asNumber(nbf),
    expiresAt: asNumber(exp),
    warnAfter: asNumber(own.warnafter),
  };
}

function namedObject(value: unknown): NamedObject | undefined {
  const { name, uid }: { readonly name?: unknown; readonly uid?: unknown } = asFields(value);
  return isSet(value) ? { name: asText(name), uid: asText(uid) } : undefined;
}
