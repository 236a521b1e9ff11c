import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type ConnectionOptions } from 'node:tls';
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
  try {
    return createSecureContext({ ...(ca && { ca }), ...(pair && { cert: pair.certificate, key: pair.key }) });
  } catch (error) {
    const source = pair ? 'the client certificate and key, or certificate-authority,' : 'certificate-authority';
    throw failed(`${source} cannot be used: ${reasonOf(error)}; write PEM files that belong together`, error);
  }
}
