import type { Secret, ServiceAccount } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';

export interface TokenSecretRules {
  readonly naming: NamingProfile;
  /** CA bundle that verifies the serving certificate. */
  readonly rootCaPem: string;
  /** True if kube-controller-manager fills Secrets too: its CA bundle is not replaced. */
  readonly keepsRootCa?: boolean;
}

export type Verdict = 'leave' | 'delete' | 'fill' | 'fill with a token';

export function tokenSecretType(naming: NamingProfile): string {
  return naming.label('service-account-token');
}

/** Returns the name of the service account that a Secret is for. */
export function accountNameOf(secret: Secret, naming: NamingProfile): string {
  return secret.metadata.annotations?.[naming.label('service-account.name')] ?? '';
}

/** Decides what to do with a token Secret. `account` is the service account with the name in its annotation, if it exists. */
export function decide(
  secret: Secret,
  account: ServiceAccount | undefined,
  { naming, rootCaPem, keepsRootCa = false }: TokenSecretRules,
): Verdict {
  if (secret.metadata.deletionTimestamp !== undefined) return 'leave';
  const uid = secret.metadata.annotations?.[naming.label('service-account.uid')] ?? '';
  if (!account || (uid !== '' && uid !== account.metadata.uid)) return 'delete';
  // An immutable Secret cannot be filled.
  if (secret.immutable === true) return 'leave';
  if (dataOf(secret, 'token') === '') return 'fill with a token';
  const rootCa = dataOf(secret, 'ca.crt');
  const isTrusted = keepsRootCa ? rootCa !== '' : rootCa === rootCaPem;
  return isTrusted && dataOf(secret, 'namespace') !== '' ? 'leave' : 'fill';
}

/** Adds missing data and annotations to a Secret. An existing token or namespace is kept. */
export function filled(
  secret: Secret,
  account: ServiceAccount,
  token: string | undefined,
  { naming, rootCaPem }: TokenSecretRules,
): Secret {
  const { name = '', uid = '' } = account.metadata;
  const annotations = {
    ...secret.metadata.annotations,
    [naming.label('service-account.name')]: name,
    [naming.label('service-account.uid')]: uid,
  };
  const namespace = dataOf(secret, 'namespace') === '' ? secret.metadata.namespace : undefined;
  const data = {
    ...secret.data,
    'ca.crt': base64(rootCaPem),
    ...(namespace !== undefined && { namespace: base64(namespace) }),
    ...(token !== undefined && { token: base64(token) }),
  };
  return { ...secret, metadata: { ...secret.metadata, annotations }, data };
}

/** Removes a Secret from the `secrets` of a service account; returns the same object if it is not among them. */
export function withoutSecret(account: ServiceAccount, secretName: string): ServiceAccount {
  const known = account.secrets ?? [];
  const secrets = known.filter(({ name }) => name !== secretName);
  return secrets.length === known.length ? account : { ...account, secrets };
}

function dataOf(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
