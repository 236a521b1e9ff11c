import { createHash, X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { CertificateError } from './certificate-error.js';

/** Who a client certificate says its bearer is. Whether to believe it is verify-client-certificate.ts's matter. */
export interface CertificateIdentity {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The subject attribute that carries a user's uid (KEP-5285's allocation under the Kubernetes enterprise number). */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/**
 * The common name is the user, every organization a group. Without a common name there is no user: undefined.
 * `labelDomain` is the domain of the extra key (`kubernetes.io`).
 */
export function identityOfCertificate(
  certificate: X509Certificate | PeerCertificate,
  labelDomain: string,
): CertificateIdentity | undefined {
  const subject = subjectOf(certificate);
  // Of several common names the last, most specific one counts, as in Go.
  const name = valuesOf(subject, 'CN').at(-1);
  if (name === undefined || name === '') return undefined;
  const uids = valuesOf(subject, uidAttribute);
  if (uids.length > 1) throw new CertificateError('the certificate names more than one uid');
  if (uids[0] === '') throw new CertificateError('the uid in the certificate is empty');
  return {
    name,
    ...(uids[0] !== undefined && { uid: uids[0] }),
    groups: valuesOf(subject, 'O'),
    extra: {
      [`authentication.${labelDomain}/credential-id`]: [
        `X509SHA256=${createHash('sha256').update(certificate.raw).digest('hex')}`,
      ],
    },
  };
}

/** One value or several, by attribute; made by Node from the decoded name, not from its printed form. */
type Subject = Readonly<Record<string, string | string[] | undefined>>;

function subjectOf(certificate: X509Certificate | PeerCertificate): Subject {
  const { subject } = certificate instanceof X509Certificate ? certificate.toLegacyObject() : certificate;
  return subject ?? {};
}

function valuesOf(subject: Subject, attribute: string): string[] {
  const value = Object.hasOwn(subject, attribute) ? subject[attribute] : undefined;
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
