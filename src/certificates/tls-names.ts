import {
  cipherSuiteNames,
  cipherSuites,
  tlsVersionNames,
  tlsVersions,
  type TlsVersionName,
} from '../config/tls-names.js';
import { CertificateError } from './certificate-error.js';

/** OpenSSL's name of a TLS version. */
export type TlsVersion = (typeof tlsVersions)[TlsVersionName];

export function tlsVersionOf(name: string): TlsVersion {
  if (!Object.hasOwn(tlsVersions, name)) {
    throw new CertificateError(`unknown TLS version "${name}", allowed are: ${tlsVersionNames.join(', ')}`);
  }
  return tlsVersions[name as TlsVersionName];
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
