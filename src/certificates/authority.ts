import { generateKeyPair, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { issueCertificate, type Signer } from './issue-certificate.js';
import { validToMs, type KeyPairPem } from './pem.js';
import type { ServingNames } from './serving-names.js';

/** What our own certificate authority makes, in memory; pki.ts keeps it in files. */

const dayMs = 86_400_000;
const authorityDays = 3650;
const leafDays = 365;
/** Clocks of clients may be a little behind. */
const skewMs = 5 * 60_000;
/** A leaf is renewed, and so is an authority, this long before its end. */
export const renewalMs = 30 * dayMs;

/** The administrator whom the written kubeconfig makes of its reader. */
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

/** A certificate that signs itself; with an old key, those that the old certificate signed stay good. */
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

/** RSA keys take 50 to 300 ms to find: in the thread pool, beside everything else that a start does. */
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

/** A leaf must not outlive what it hangs on. */
function leafLifetime(signer: Signer, nowMs: number) {
  return {
    notBeforeMs: nowMs - skewMs,
    notAfterMs: Math.min(nowMs + leafDays * dayMs, validToMs(signer.certificate)),
  };
}
