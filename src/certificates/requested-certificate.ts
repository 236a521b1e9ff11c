import type { KeyObject } from 'node:crypto';
import { CertificateError } from './certificate-error.js';
import { parseCertificateRequest } from './certificate-request.js';
import { derElements, extensionIds, type DerElement } from './der.js';

/** Subject alternative names of the four types that a signer copies into a certificate. Others are never copied. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
  /** Addresses in bytes: 4 for IPv4, 16 for IPv6. */
  readonly ip: readonly Buffer[];
}

/** Fields of a certificate request that a signer checks, and the bytes that it copies. */
export interface RequestedCertificate {
  readonly publicKey: KeyObject;
  /** Whole DER elements of the request. */
  readonly raw: { readonly subject: Buffer; readonly publicKey: Buffer };
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly names: AlternativeNames;
}

const tags = { octetString: 0x04, sequence: 0x30, attributes: 0xa0 };
const generalNames = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 };
const extensionRequestId = '2a864886f70d01090e';
const noNames: AlternativeNames = { dns: [], email: [], uri: [], ip: [] };

/**
 * Parses a request in DER. Throws CertificateError if it is malformed, if its signature does not prove that the sender
 * has the private key, or if a name in it is invalid.
 */
export function requestedCertificate(bytes: Buffer): RequestedCertificate {
  const { publicKey, isSigned, commonName, organizations } = parseCertificateRequest(bytes);
  if (!publicKey || !isSigned()) {
    throw new CertificateError('the signature of the request does not belong to its public key');
  }
  const [info] = derElements(derElements(bytes)[0]!.content);
  const [, subject, key, attributes] = derElements(info!.content);
  return {
    publicKey,
    raw: { subject: subject!.raw, publicKey: key!.raw },
    commonName,
    organizations,
    names: attributes?.tag === tags.attributes ? alternativeNames(attributes) : noNames,
  };
}

function alternativeNames(attributes: DerElement): AlternativeNames {
  const requests = derElements(attributes.content)
    .map(({ content }) => derElements(content))
    .filter(([id]) => id?.content.toString('hex') === extensionRequestId);
  if (requests.length > 1) throw malformed('it requests extensions twice');
  const values = requests.flatMap(([, set]) => (set ? derElements(set.content) : []));
  const found = values
    .flatMap(({ content }) => derElements(content))
    .map(({ content }) => derElements(content))
    .filter(([id]) => id?.content.toString('hex') === extensionIds.subjectAltName);
  if (found.length > 1) throw malformed('it has two lists of alternative names');
  const value = found[0]?.at(-1);
  if (!value) return noNames;
  if (value.tag !== tags.octetString) throw malformed('its alternative names are not an octet string');
  const [list, ...more] = derElements(value.content);
  if (list?.tag !== tags.sequence || more.length > 0) throw malformed('its alternative names are not a list');
  const elements = derElements(list.content);
  const texts = (tag: number) => elements.filter((element) => element.tag === tag).map(asciiText);
  const ip = elements.filter(({ tag }) => tag === generalNames.ip).map(({ content }) => content);
  if (ip.some(({ length }) => length !== 4 && length !== 16)) throw malformed('an IP address in it has a wrong length');
  const uri = texts(generalNames.uri);
  if (!uri.every((text) => URL.canParse(text))) throw malformed('a URI in it is invalid');
  return { dns: texts(generalNames.dns), email: texts(generalNames.email), uri, ip };
}

function asciiText({ content }: DerElement): string {
  if (content.some((byte) => byte >= 0x80 || byte < 0x20)) throw malformed('an alternative name is not ASCII text');
  return content.toString('latin1');
}

function malformed(reason: string): CertificateError {
  return new CertificateError(`malformed certificate request: ${reason}`);
}
