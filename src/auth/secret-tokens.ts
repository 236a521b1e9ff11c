import { asText } from '../machinery/fields.js';
import type { NamedObject } from './service-account-tokens.js';
import { isGenuine, readJwt, signJwt } from './jwt.js';
import type { TokenKeys } from './token-keys.js';

export interface SecretTokenClaims {
  readonly namespace: string;
  readonly account: NamedObject;
  /** Secret that contains the token, which is valid as long as it does. */
  readonly secretName: string;
}

interface Dependencies {
  /** Constant issuer of these tokens; not a URL. */
  readonly issuer: string;
  readonly labelDomain: string;
  readonly keys: () => Promise<TokenKeys>;
}

/** Issues and reads service account tokens in Secrets, which do not expire. */
export class SecretTokens {
  constructor(private readonly dependencies: Dependencies) {}

  async issue({ namespace, account, secretName }: SecretTokenClaims): Promise<string> {
    const payload = {
      iss: this.dependencies.issuer,
      [this.claim('namespace')]: namespace,
      [this.claim('secret.name')]: secretName,
      [this.claim('service-account.name')]: account.name,
      [this.claim('service-account.uid')]: account.uid,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    };
    return signJwt(payload, await this.dependencies.keys());
  }

  /**
   * Returns the claims of a verified token, `forged` if its signature is invalid, undefined for other kinds of tokens.
   */
  async read(token: string): Promise<SecretTokenClaims | 'forged' | undefined> {
    const jwt = readJwt(token);
    if (!jwt || jwt.payload.iss !== this.dependencies.issuer) return undefined;
    const text = (name: string) => asText(jwt.payload[this.claim(name)]);
    const claims = {
      namespace: text('namespace'),
      account: { name: text('service-account.name'), uid: text('service-account.uid') },
      secretName: text('secret.name'),
    };
    const isWhole = jwt.payload.sub === `system:serviceaccount:${claims.namespace}:${claims.account.name}`;
    if (!isWhole || claims.secretName === '') return 'forged';
    return (await isGenuine(jwt, await this.dependencies.keys())) ? claims : 'forged';
  }

  private claim(name: string): string {
    return `${this.dependencies.labelDomain}/serviceaccount/${name}`;
  }
}
