import type { X509Certificate } from 'node:crypto';
import { parseCertificates } from './pem.js';

/** Trusted CA certificates. Immutable: a reload creates another bundle. */
export interface CaBundle {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

export function parseCaBundle(pem: string, file: string): CaBundle {
  return { pem, certificates: parseCertificates(pem, file) };
}

export function joinCaBundles(bundles: readonly CaBundle[]): CaBundle {
  return {
    pem: bundles.map(({ pem }) => pem.trimEnd() + '\n').join(''),
    certificates: bundles.flatMap(({ certificates }) => certificates),
  };
}
