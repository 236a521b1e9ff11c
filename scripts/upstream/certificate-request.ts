import { webcrypto } from 'node:crypto';
import { loadX509 } from '../../src/certificates/issue-certificate.js';

/** Returns the spec.request of a CertificateSigningRequest for a subject such as `CN=a,O=b`. */
export async function certificateRequest(subject: string): Promise<string> {
  const { Pkcs10CertificateRequestGenerator } = await loadX509();
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const parts = { name: subject, keys, signingAlgorithm: algorithm };
  const request = await Pkcs10CertificateRequestGenerator.create(parts, webcrypto);
  return Buffer.from(request.toString('pem')).toString('base64');
}
