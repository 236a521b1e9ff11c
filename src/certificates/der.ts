import type { X509Certificate } from 'node:crypto';
import { CertificateError } from './certificate-error.js';

/** Parses DER: certificate requests, and those facts of a certificate that node:crypto does not provide. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** The whole element with tag and length, over which signatures are computed. */
  readonly raw: Buffer;
}

interface CertificateExtension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

const tags = { boolean: 0x01, integer: 0x02, octetString: 0x04, dnsName: 0x82, version: 0xa0, extensions: 0xa3 };

/** Object identifiers as the hex of their DER contents. */
export const extensionIds = {
  subjectKeyIdentifier: '551d0e',
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  nameConstraints: '551d1e',
  crlDistributionPoints: '551d1f',
  certificatePolicies: '551d20',
  authorityKeyIdentifier: '551d23',
  extendedKeyUsage: '551d25',
} as const;

/**
 * Returns the consecutive elements in `bytes`. Rejects lengths in more bytes than needed, indefinite lengths and tags
 * of several bytes, in which other parsers could see other elements.
 */
export function derElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    if ((tag & 0x1f) === 0x1f) throw malformed();
    let length = bytes[at + 1] ?? 0;
    let start = at + 2;
    if (length >= 0x80) {
      const lengthBytes = length & 0x7f;
      if (lengthBytes === 0 || lengthBytes > 4 || start + lengthBytes > bytes.length) throw malformed();
      length = bytes.readUIntBE(start, lengthBytes);
      if (length < 0x80 || length < 2 ** (8 * (lengthBytes - 1))) throw malformed();
      start += lengthBytes;
    }
    if (start + length > bytes.length) throw malformed();
    const end = start + length;
    elements.push({ tag, content: bytes.subarray(start, end), raw: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** Returns the subject of a certificate: `{ { [0] version?, serial, algorithm, issuer, validity, subject, … }, … }`. */
export function certificateSubject(raw: Buffer): DerElement {
  const [tbs] = derElements(single(raw).content);
  if (tbs === undefined) throw malformed();
  const elements = derElements(tbs.content);
  const subject = elements[elements[0]?.tag === tags.version ? 5 : 4];
  if (subject === undefined) throw malformed();
  return subject;
}

export interface CertificateFacts {
  /** Object identifier of the signature algorithm, in hex. */
  readonly signatureAlgorithm: string;
  readonly extensions: ReadonlyMap<string, CertificateExtension>;
}

export function certificateFacts(certificate: X509Certificate): CertificateFacts {
  const [tbs, algorithm] = derElements(single(certificate.raw).content);
  if (tbs === undefined || algorithm === undefined) throw malformed();
  const extensions = new Map<string, CertificateExtension>();
  const list = derElements(tbs.content).find((element) => element.tag === tags.extensions);
  for (const { content } of list === undefined ? [] : derElements(single(list.content).content)) {
    const [id, ...rest] = derElements(content);
    const value = rest.at(-1);
    if (id === undefined || value?.tag !== tags.octetString) throw malformed();
    const isCritical = rest[0]!.tag === tags.boolean && rest[0]!.content[0] !== 0;
    extensions.set(id.content.toString('hex'), { isCritical, value: value.content });
  }
  return { signatureAlgorithm: derElements(algorithm.content)[0]!.content.toString('hex'), extensions };
}

/** Returns the maximum number of intermediates below this CA (pathLenConstraint); undefined if there is no bound. */
export function pathLengthMax(facts: CertificateFacts): number | undefined {
  const extension = facts.extensions.get(extensionIds.basicConstraints);
  if (extension === undefined) return undefined;
  const bound = derElements(single(extension.value).content).find((element) => element.tag === tags.integer)?.content;
  if (bound === undefined) return undefined;
  return bound.length > 4 ? Number.MAX_SAFE_INTEGER : bound.readIntBE(0, bound.length);
}

/** Returns the DNS names of the subject alternative name, in lower case. */
export function dnsNames(facts: CertificateFacts): string[] {
  const extension = facts.extensions.get(extensionIds.subjectAltName);
  if (extension === undefined) return [];
  return derElements(single(extension.value).content)
    .filter((element) => element.tag === tags.dnsName)
    .map((element) => element.content.toString('latin1').toLowerCase());
}

function single(bytes: Buffer): DerElement {
  const [element] = derElements(bytes);
  if (element === undefined) throw malformed();
  return element;
}

function malformed(): CertificateError {
  return new CertificateError('malformed DER');
}
