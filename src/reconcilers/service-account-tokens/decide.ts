import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

export interface TokenSecretRules {
  readonly naming: NamingProfile;
  /** Whom those who hold the token may trust. */
  readonly authorityPem: string;
  /** True if another controller fills Secrets too: an authority that it put there stays. */
  readonly keepsAuthority?: boolean;
}

export type Verdict = 'leave' | 'delete' | 'fill' | 'fill with a token';

export function tokenSecretType(naming: NamingProfile): string {
  return naming.label('service-account-token');
}

/** The account that a Secret is for; without a uid it takes whoever has the name. */
export function accountNameOf(secret: KubeObject, naming: NamingProfile): string {
  return secret.metadata.annotations?.[naming.label('service-account.name')] ?? '';
}

/** What is to be done about a token Secret, given the account of its name. */
export function decide(
  secret: KubeObject,
  account: KubeObject | undefined,
  { naming, authorityPem, keepsAuthority = false }: TokenSecretRules,
): Verdict {
  if (secret.metadata.deletionTimestamp !== undefined) return 'leave';
  const uid = secret.metadata.annotations?.[naming.label('service-account.uid')] ?? '';
  if (!account || (uid !== '' && uid !== account.metadata.uid)) return 'delete';
  // What is missing stays missing: no write of it would be let in.
  if (secret['immutable'] === true) return 'leave';
  if (held(secret, 'token') === '') return 'fill with a token';
  const authority = held(secret, 'ca.crt');
  const isTrusted = keepsAuthority ? authority !== '' : authority === authorityPem;
  return isTrusted && held(secret, 'namespace') !== '' ? 'leave' : 'fill';
}

/** The Secret with all that is missing. A token or a namespace that somebody put there stays. */
export function filled(
  secret: KubeObject,
  account: KubeObject,
  token: string | undefined,
  { naming, authorityPem }: TokenSecretRules,
): KubeObject {
  const { name = '', uid = '' } = account.metadata;
  const annotations = {
    ...secret.metadata.annotations,
    [naming.label('service-account.name')]: name,
    [naming.label('service-account.uid')]: uid,
  };
  const namespace = held(secret, 'namespace') === '' ? secret.metadata.namespace : undefined;
  const data = {
    ...asFields(secret['data']),
    'ca.crt': base64(authorityPem),
    ...(namespace !== undefined && { namespace: base64(namespace) }),
    ...(token !== undefined && { token: base64(token) }),
  };
  return { ...secret, metadata: { ...secret.metadata, annotations }, data };
}

/** The account without a Secret among its own; the same object where it is not. */
export function withoutSecret(account: KubeObject, secretName: string): KubeObject {
  const known = asItems(account['secrets']);
  const secrets = known.filter(({ name }) => name !== secretName);
  return secrets.length === known.length ? account : { ...account, secrets };
}

function held(secret: KubeObject, key: string): string {
  return Buffer.from(asText(asFields(secret['data'])[key]), 'base64').toString('utf8');
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
