import type { X509Certificate } from 'node:crypto';
import { type KeyObject } from 'node:crypto';
import { capitalized } from '../std/capitalized.js';
import { CertificateError } from './certificate-error.js';
import type { KeyPairPem } from './pem.js';

export interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  /** Undefined if ca.key does not exist; then no certificates can be signed. */
  readonly key: KeyObject | undefined;
}

export interface LeafFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface LeafPair extends KeyPairPem {
  readonly files: LeafFiles;
  /** False for a pair of the user, which is never overwritten. */
  readonly isOurs: boolean;
}

export function advised<T>(files: LeafFiles, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new CertificateError(`${error.message}. ${capitalized(advice(files))}`, { cause: error });
  }
}

export function advice({ certificate, key }: LeafFiles): string {
  const consequence = certificate.endsWith('ca.crt') ? ', which no client trusts until it has the new kubeconfig' : '';
  return `restore it from a backup, or remove both ${certificate} and ${key} to have new ones generated${consequence}`;
}
