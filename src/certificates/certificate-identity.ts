import { createHash, type X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { CertificateError } from './certificate-error.js';
import { certificateSubject } from './der.js';
import { nameAttributes, readDistinguishedName, valuesOf } from './distinguished-name.js';

/** User and groups in a client certificate, which verify-client-certificate.ts verifies. */
export interface CertificateIdentity {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the common name as the user and the organizations as groups; undefined without a common name. `labelDomain`
 * is the domain of the extra key (`kubernetes.io`).
 */
export function identityOfCertificate(
  certificate: X509Certificate | PeerCertificate,
  labelDomain: string,
): CertificateIdentity | undefined {
  const subject = readDistinguishedName(certificateSubject(certificate.raw));
  // As in Go, the last of several common names is used.
  const name = valuesOf(subject, nameAttributes.commonName).at(-1);
  if (name === undefined || name === '') return undefined;
  const uids = valuesOf(subject, nameAttributes.uid);
  if (uids.length > 1) throw new CertificateError('the certificate names more than one uid');
  if (uids[0] === '') throw new CertificateError('the uid in the certificate is empty');
  return {
    name,
    ...(uids[0] !== undefined && { uid: uids[0] }),
    groups: valuesOf(subject, nameAttributes.organization),
    extra: {
      [`authentication.${labelDomain}/credential-id`]: [
        `X509SHA256=${createHash('sha256').update(certificate.raw).digest('hex')}`,
      ],
    },
  };
}
