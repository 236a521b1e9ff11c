import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { CertificateError } from './certificate-error.js';
import { derElements, type DerElement } from './der.js';
import { pemBlocks } from './pem-blocks.js';
import { nameAttributes, readDistinguishedName, valuesOf } from './distinguished-name.js';

/** A request for a certificate as PKCS#10 has it (RFC 2986): `{ { version, subject, key, attributes }, algorithm, signature }`. */
export interface ParsedCertificateRequest {
  /** Undefined when its algorithm is not known here. */
  readonly publicKey: KeyObject | undefined;
  /** Whether whoever asks has the private key. */
  readonly isSigned: () => boolean;
  /** The last common name of the subject: the user that the certificate would be for. '' without one. */
  readonly commonName: string;
  /** The organizations of the subject: the groups of that user. */
  readonly organizations: readonly string[];
}

const tags = { integer: 0x02, bitString: 0x03, sequence: 0x30 };

/**
 * The bytes of a request in PEM: one block, without headers, and no other line that looks like the beginning or the end of one, so
 * that every reader takes the same bytes for the request.
 */
export function certificateRequestInPem(text: string): Buffer {
  const [block, ...others] = pemBlocks(text);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new CertificateError('PEM block type must be CERTIFICATE REQUEST');
  if (others.length > 0 || text.split('-----BEGIN').length > 2 || text.split('-----END').length > 2) {
    throw new CertificateError('must contain exactly one PEM block');
  }
  if (block.hasHeaders) throw new CertificateError('no PEM block headers are permitted');
  return block.bytes;
}

export function parsePemCertificateRequest(text: string): ParsedCertificateRequest {
  return parseCertificateRequest(certificateRequestInPem(text));
}

/** Throws CertificateError when the bytes are no request. */
export function parseCertificateRequest(bytes: Buffer): ParsedCertificateRequest {
  const [request, ...trailing] = derElements(bytes);
  if (request?.tag !== tags.sequence || trailing.length > 0) throw malformed('no single sequence');
  const [info, algorithm, signature, ...more] = derElements(request.content);
  if (info?.tag !== tags.sequence || algorithm?.tag !== tags.sequence || more.length > 0) {
    throw malformed('it is not what is signed, the algorithm and the signature');
  }
  if (signature?.tag !== tags.bitString) throw malformed('it has no signature');
  const [version, subject, key] = derElements(info.content);
  if (version?.tag !== tags.integer || subject?.tag !== tags.sequence || key?.tag !== tags.sequence) {
    throw malformed('what is signed is not a version, a subject and a key');
  }
  const name = readDistinguishedName(subject);
  const publicKey = publicKeyOf(key);
  return {
    publicKey,
    isSigned: () => publicKey !== undefined && verifies(info.raw, publicKey, algorithm, signature.content.subarray(1)),
    commonName: valuesOf(name, nameAttributes.commonName).at(-1) ?? '',
    organizations: valuesOf(name, nameAttributes.organization),
  };
}

function publicKeyOf(info: DerElement): KeyObject | undefined {
  try {
    return createPublicKey({ key: info.raw, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** By the hex of the algorithm's object identifier; RSASSA-PSS names its digest among its parameters. */
const digests: Readonly<Record<string, string | null>> = {
  // SHA-1 is weak for certificates, but a request is only signed to prove that its sender has the key.
  '2a8648ce3d0401': 'sha1',
  '2a864886f70d010105': 'sha1',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2b6570': null,
};
const pss = '2a864886f70d01010a';
const pssDigests: Readonly<Record<string, string>> = {
  '608648016503040201': 'sha256',
  '608648016503040202': 'sha384',
  '608648016503040203': 'sha512',
};

function verifies(signed: Buffer, key: KeyObject, algorithm: DerElement, signature: Buffer): boolean {
  const [id, parameters] = derElements(algorithm.content);
  const name = id?.content.toString('hex') ?? '';
  try {
    if (name === pss) {
      const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
      return verify(pssDigest(parameters), signed, { key, ...padding }, signature);
    }
    return Object.hasOwn(digests, name) && verify(digests[name], signed, key, signature);
  } catch {
    return false;
  }
}

/** `[0] { { digest } }` */
function pssDigest(parameters: DerElement | undefined): string {
  const [first] = derElements(parameters?.content ?? Buffer.alloc(0));
  const [algorithm] = derElements(first?.content ?? Buffer.alloc(0));
  const [id] = derElements(algorithm?.content ?? Buffer.alloc(0));
  const digest = pssDigests[id?.content.toString('hex') ?? ''];
  if (digest === undefined) throw malformed('its digest is not known');
  return digest;
}

function malformed(reason: string): CertificateError {
  return new CertificateError(`malformed certificate request: ${reason}`);
}
