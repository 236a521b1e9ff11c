import { generateKeyPair, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { issueCertificate, type Signer } from './issue-certificate.js';
import { validToMs, type KeyPairPem } from './pem.js';
import type { ServingNames } from './serving-names.js';

/** Issues the keys and certificates of the server's own CA, in memory; pki.ts stores them in files. */

const dayMs = 86_400_000;
const authorityDays = 3650;
const leafDays = 365;
/** Certificates are backdated by this time, since clocks of clients may be behind. */
const skewMs = 5 * 60_000;
/** Certificates are renewed this long before they expire. */
export const renewalMs = 30 * dayMs;

/** User and groups of the administrator's client certificate. */
export interface AdminSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export const adminDefault: AdminSubject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };

export interface ServiceAccountKey {
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** PEM, SubjectPublicKeyInfo. */
  readonly publicKey: string;
}

export function makeKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

export function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Issues a self-signed CA certificate. With the key of a predecessor, certificates that it signed stay valid. */
export function makeAuthority(key: KeyObject, nowMs: number, predecessor?: X509Certificate): Promise<string> {
  const lifetime = { notBeforeMs: nowMs - skewMs, notAfterMs: nowMs + authorityDays * dayMs };
  const request = { commonName: 'keelson-ca', usage: 'authority', key, ...lifetime } as const;
  return issueCertificate(predecessor === undefined ? request : { ...request, predecessor });
}

export async function makeServingPair(signer: Signer, names: ServingNames, nowMs: number): Promise<KeyPairPem> {
  const key = makeKey();
  const request = { commonName: 'keelson', usage: 'server', dns: names.dns, ip: names.ip, key, signer } as const;
  return { certificate: await issueCertificate({ ...request, ...leafLifetime(signer, nowMs) }), key: keyPem(key) };
}

export async function makeClientPair(signer: Signer, subject: AdminSubject, nowMs: number): Promise<KeyPairPem> {
  const key = makeKey();
  const request = { ...subject, usage: 'client', key, signer } as const;
  return { certificate: await issueCertificate({ ...request, ...leafLifetime(signer, nowMs) }), key: keyPem(key) };
}

/** Generates an RSA key, which takes 50 to 300 ms, in Node's thread pool. */
export function makeServiceAccountKey(): Promise<ServiceAccountKey> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

export function signerOf(certificatePem: string, key: KeyObject): Signer {
  return { certificate: new X509Certificate(certificatePem), key };
}

/** Returns a validity of a year that ends no later than the CA certificate. */
function leafLifetime(signer: Signer, nowMs: number) {
  return {
    notBeforeMs: nowMs - skewMs,
    notAfterMs: Math.min(nowMs + leafDays * dayMs, validToMs(signer.certificate)),
  };
}
