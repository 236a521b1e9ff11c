import { CertificateError } from './certificate-error.js';

/** Names of TLS versions in flags (Go's names) and in OpenSSL. */
const versions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;

export type TlsVersion = (typeof versions)[keyof typeof versions];

/** Cipher suites that OpenSSL 3 supports at its default security level: without RC4 and 3DES. */
const cipherSuites: ReadonlyMap<string, string> = new Map([
  ['TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA256', 'AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
]);

export const tlsVersionNames: readonly string[] = Object.keys(versions);
export const cipherSuiteNames: readonly string[] = [...cipherSuites.keys()];

export function tlsVersionOf(name: string): TlsVersion {
  if (!Object.hasOwn(versions, name)) {
    throw new CertificateError(`unknown TLS version "${name}", allowed are: ${tlsVersionNames.join(', ')}`);
  }
  return versions[name as keyof typeof versions];
}

/**
 * Translates cipher suites to OpenSSL's names, in order. As in Go, a list of TLS 1.2 suites does not affect TLS 1.3.
 */
export function opensslCiphers(names: readonly string[]): string {
  const unknown = names.filter((name) => !cipherSuites.has(name));
  if (unknown.length > 0) {
    throw new CertificateError(
      `unknown cipher suites ${unknown.map((name) => `"${name}"`).join(', ')}, allowed are: ${cipherSuiteNames.join(', ')}`,
    );
  }
  return [...new Set(names.map((name) => cipherSuites.get(name)!))].join(':');
}
