import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';
import type { WebhookCertificate } from './review-server.js';

/** Issues a certificate with the common name `webhook`, with a CA of its own. */
export async function webhookCertificate(options: {
  /** Of the signature. */
  readonly hash: string;
  /** DNS names in subjectAltName; without any, the extension is absent. */
  readonly names: readonly string[];
  /** Ends the validity of the certificate in the past. */
  readonly isExpired?: boolean;
}): Promise<WebhookCertificate> {
  const { hash, names, isExpired = false } = options;
  const signingAlgorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash,
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  };
  const newKeys = () => webcrypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const [caKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...{ serialNumber: '01', name: 'CN=ca', keys: caKeys, signingAlgorithm, ...validity },
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    },
    webcrypto,
  );
  const alternatives = names.map((value) => ({ type: 'dns' as const, value }));
  const certificate = await x509.X509CertificateGenerator.create(
    {
      ...{ serialNumber: '02', subject: 'CN=webhook', issuer: ca.subject, signingAlgorithm, ...validity },
      ...(isExpired && { notAfter: new Date(Date.now() - 30_000) }),
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      extensions: names.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : [],
    },
    webcrypto,
  );
  return {
    certificate: certificate.toString('pem'),
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }) as string,
    ca: ca.toString('pem'),
  };
}
