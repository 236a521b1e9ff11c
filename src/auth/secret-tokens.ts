import { asText } from '../machinery/fields.js';
import type { NamedObject } from './service-account-tokens.js';
import { isGenuine, readJwt, signJwt } from './jwt.js';
import type { TokenKeys } from './token-keys.js';

export interface SecretTokenClaims {
  readonly namespace: string;
  readonly account: NamedObject;
  /** The Secret that holds the token: it is good for as long as it stands there. */
  readonly secretName: string;
}

interface Parts {
  /** Not an address: these tokens are older than issuers were. */
  readonly issuer: string;
  readonly labelDomain: string;
  readonly keys: () => Promise<TokenKeys>;
}

/** Tokens of service accounts that are kept in Secrets and never run out, for clients that cannot renew one. */
export class SecretTokens {
  constructor(private readonly parts: Parts) {}

  async issue({ namespace, account, secretName }: SecretTokenClaims): Promise<string> {
    const payload = {
      iss: this.parts.issuer,
      [this.claim('namespace')]: namespace,
      [this.claim('secret.name')]: secretName,
      [this.claim('service-account.name')]: account.name,
      [this.claim('service-account.uid')]: account.uid,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    };
    return signJwt(payload, await this.parts.keys());
  }

  /** What a genuine token says; undefined when it is another kind of token. */
  async read(token: string): Promise<SecretTokenClaims | 'forged' | undefined> {
    const jwt = readJwt(token);
    if (!jwt || jwt.payload['iss'] !== this.parts.issuer) return undefined;
    const text = (name: string) => asText(jwt.payload[this.claim(name)]);
    const claims = {
      namespace: text('namespace'),
      account: { name: text('service-account.name'), uid: text('service-account.uid') },
      secretName: text('secret.name'),
    };
    const isWhole = jwt.payload['sub'] === `system:serviceaccount:${claims.namespace}:${claims.account.name}`;
    return isWhole && claims.secretName !== '' && isGenuine(jwt, await this.parts.keys()) ? claims : 'forged';
  }

  private claim(name: string): string {
    return `${this.parts.labelDomain}/serviceaccount/${name}`;
  }
}
