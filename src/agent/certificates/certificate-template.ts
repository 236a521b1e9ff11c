import { createPublicKey, sign, type KeyObject, type X509Certificate } from 'node:crypto';
import { derBits, derElement, derId, derOctets, derPositive, derSequence } from '../../certificates/der-writer.js';
import { identityOfCertificate } from '../../certificates/certificate-identity.js';
import { addressNumber } from '../../machinery/ip-range.js';
import { familyOf } from '../../machinery/ip-addresses.js';

/** The contents of a certificate of a node. */
export interface CertificateTemplate {
  /** `system:node:<name>` */
  readonly commonName: string;
  readonly organization: string;
  /** Alternative names; none in client certificates. */
  readonly dns: readonly string[];
  readonly ip: readonly string[];
}

const ids = {
  commonName: '550403',
  organization: '55040a',
  extensionRequest: '2a864886f70d01090e',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
};
const tags = { utf8: 0x0c, set: 0x31, attributes: 0xa0, dns: 0x82, ip: 0x87 };

/** Returns a certificate request (PKCS #10) in PEM. The key is an ECDSA key of the curve P-256. */
export function certificateRequestPem(
  { commonName, organization, dns, ip }: CertificateTemplate,
  key: KeyObject,
): string {
  const attribute = (id: string, text: string) =>
    derElement(tags.set, derSequence(derId(id), derElement(tags.utf8, Buffer.from(text))));
  const names = [
    ...dns.map((name) => derElement(tags.dns, Buffer.from(name, 'latin1'))),
    ...ip.map((address) => derElement(tags.ip, addressBytes(address))),
  ];
  const extension = derSequence(derId(ids.subjectAltName), derOctets(derSequence(...names)));
  const requested = derSequence(derId(ids.extensionRequest), derElement(tags.set, derSequence(extension)));
  const info = derSequence(
    derPositive(Buffer.from([0])),
    derSequence(attribute(ids.organization, organization), attribute(ids.commonName, commonName)),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    derElement(tags.attributes, ...(names.length > 0 ? [requested] : [])),
  );
  const signature = derBits(sign('sha256', info, key));
  const request = derSequence(info, derSequence(derId(ids.ecdsaWithSha256)), signature);
  const lines = request.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** True if a certificate has the subject and all names of the template. */
export function satisfies(certificate: X509Certificate, template: CertificateTemplate): boolean {
  const identity = identityOfCertificate(certificate, '');
  return (
    identity?.name === template.commonName &&
    identity.groups.length === 1 &&
    identity.groups[0] === template.organization &&
    template.dns.every((name) => certificate.checkHost(name) !== undefined) &&
    template.ip.every((address) => certificate.checkIP(address) !== undefined)
  );
}

function addressBytes(address: string): Buffer {
  const digits = familyOf(address) === 4 ? 8 : 32;
  return Buffer.from(addressNumber(address).toString(16).padStart(digits, '0'), 'hex');
}
