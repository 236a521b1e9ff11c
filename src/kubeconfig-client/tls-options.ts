import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type ConnectionOptions, type SecureContext } from 'node:tls';
import { ClientError, reasonOf } from './client-error.js';
import { missingNamesError } from './connection-error.js';
import { areEqualPairs, type KeyPair } from './credentials.js';
import type { Kubeconfig } from './kubeconfig.js';

/** The settings of a kubeconfig that concern connections. */
export interface TlsSettings {
  readonly location: string;
  readonly cluster: Pick<Kubeconfig['cluster'], 'server' | 'tlsServerName' | 'skipsTlsVerify'>;
  readonly user: Pick<Kubeconfig['user'], 'clientCertificate'>;
}

export interface TlsIdentity {
  readonly certificateAuthority: Buffer | undefined;
  readonly clientCertificate: KeyPair | undefined;
}

/** Returns the options with which a server is verified. Throws ClientError for unusable certificates. */
export function tlsOptions(settings: TlsSettings, identity: TlsIdentity) {
  const { cluster } = settings;
  const name = cluster.tlsServerName;
  return {
    secureContext: secureContext(settings, identity),
    rejectUnauthorized: !cluster.skipsTlsVerify,
    // TLS has no server name indication for IP addresses.
    ...(name !== undefined && { servername: isIP(name) ? '' : name }),
    checkServerIdentity: (host, certificate) =>
      certificate.subjectaltname ? checkServerIdentity(name ?? host, certificate) : missingNamesError(),
  } satisfies ConnectionOptions;
}

export function areEqualIdentities(one: TlsIdentity, other: TlsIdentity): boolean {
  const [a, b] = [one.certificateAuthority, other.certificateAuthority];
  return (a === b || (a && b && a.equals(b))) === true && areEqualPairs(one.clientCertificate, other.clientCertificate);
}

function secureContext({ location }: TlsSettings, { certificateAuthority: ca, clientCertificate: pair }: TlsIdentity) {
  const failed = (problem: string, cause?: unknown) =>
    new ClientError('Kubeconfig', `kubeconfig ${location}: ${problem}`, { cause });
  // Node takes a text without certificates for an empty list of CAs.
  if (ca && !ca.includes('-----BEGIN CERTIFICATE-----') && !ca.includes('-----BEGIN TRUSTED CERTIFICATE-----')) {
    throw failed('certificate-authority has no certificate in PEM; copy the CA certificate of the cluster into it');
  }
  const digest = digestOf([ca, pair?.certificate, pair?.key]);
  try {
    const context =
      contexts.get(digest) ??
      createSecureContext({ ...(ca && { ca }), ...(pair && { cert: pair.certificate, key: pair.key }) });
    keep(digest, context);
    return context;
  } catch (error) {
    const source = pair ? 'the client certificate and key, or certificate-authority,' : 'certificate-authority';
    throw failed(`${source} cannot be used: ${reasonOf(error)}; write PEM files that belong together`, error);
  }
}

/** Contexts of the last identities, by a digest of their PEM: clients of one server usually share one. */
const contexts = new Map<string, SecureContext>();
const contextsMax = 8;

function keep(digest: string, context: SecureContext): void {
  contexts.delete(digest);
  contexts.set(digest, context);
  const [oldest] = contexts.keys();
  if (contexts.size > contextsMax) contexts.delete(oldest!);
}

/** No PEM has a byte 0. */
function digestOf(texts: readonly (Buffer | undefined)[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text ?? '').update('\0');
  return hash.digest('base64');
}
