import { asFields, asNumber, asText, asTexts, isSet, type Fields } from '../machinery/fields.js';
import { isGenuine, readJwt, signJwt, type Jwt } from './jwt.js';
import type { TokenKeys } from './token-keys.js';

/** Something that a token names, and lives no longer than. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** Whom a token is for, and what it depends on. */
export interface TokenSubject {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly pod?: NamedObject | undefined;
  readonly secret?: NamedObject | undefined;
  /** Of a pod: the node that it runs on. Without a pod: what the token is bound to. */
  readonly node?: { readonly name: string; readonly uid?: string } | undefined;
}

export interface TokenClaims extends TokenSubject {
  readonly id: string;
  readonly audiences: readonly string[];
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
}

interface Parts {
  /** The first one issues, all of them are accepted. */
  readonly issuers: readonly string[];
  /** The claim that holds what only this kind of server understands: `kubernetes.io`. */
  readonly privateClaim: string;
  /** Awaited by the first token: making a key takes long. */
  readonly keys: () => Promise<TokenKeys>;
}

/** Tokens by which service accounts prove who they are, as KEP-1205 and KEP-4193 lay them out. */
export class ServiceAccountTokens {
  constructor(private readonly parts: Parts) {}

  get issuer(): string {
    return this.parts.issuers[0]!;
  }

  keys(): Promise<TokenKeys> {
    return this.parts.keys();
  }

  async issue(
    subject: TokenSubject,
    life: {
      readonly id: string;
      readonly audiences: readonly string[];
      readonly nowSeconds: number;
      readonly seconds: number;
      /** The client is told to have it renewed after so many seconds, though it lives longer. */
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
      [this.parts.privateClaim]: {
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
    return signJwt(payload, await this.parts.keys());
  }

  /** What a genuine token says; undefined when it is somebody else's, to be read by others. */
  async read(token: string): Promise<TokenClaims | 'forged' | undefined> {
    const jwt = readJwt(token);
    if (!jwt || !this.parts.issuers.includes(asText(jwt.payload['iss']))) return undefined;
    if (!isGenuine(jwt, await this.parts.keys())) return 'forged';
    return claimsOf(jwt, this.parts.privateClaim);
  }
}

function claimsOf({ payload }: Jwt, privateClaim: string): TokenClaims | 'forged' {
  const own = asFields(payload[privateClaim]);
  const account = namedObject(own['serviceaccount']);
  const namespace = asText(own['namespace']);
  if (!account || payload['sub'] !== `system:serviceaccount:${namespace}:${account.name}`) return 'forged';
  const aud = payload['aud'];
  return {
    namespace,
    account,
    pod: namedObject(own['pod']),
    secret: namedObject(own['secret']),
    node: namedObject(own['node']),
    id: asText(payload['jti']),
    audiences: typeof aud === 'string' ? [aud] : asTexts(aud),
    issuedAt: asNumber(payload['iat']),
    notBefore: asNumber(payload['nbf']),
    expiresAt: asNumber(payload['exp']),
  };
}

function namedObject(value: unknown): NamedObject | undefined {
  const { name, uid }: Fields = asFields(value);
  return isSet(value) ? { name: asText(name), uid: asText(uid) } : undefined;
}
