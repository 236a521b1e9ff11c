import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { CertificateError } from './certificate-error.js';
import { derElements, type DerElement } from './der.js';
import { pemBlocks } from './pem-blocks.js';
import { nameAttributes, readDistinguishedName, valuesOf } from './distinguished-name.js';

/** A certificate request of PKCS#10 (RFC 2986): `{ { version, subject, key, attributes }, algorithm, signature }`. */
export interface ParsedCertificateRequest {
  /** Undefined if its algorithm is unknown. */
  readonly publicKey: KeyObject | undefined;
  /** True if the signature proves that the sender has the private key. */
  readonly isSigned: () => boolean;
  /** Last common name of the subject, the user name of the certificate; '' if there is none. */
  readonly commonName: string;
  /** Organizations of the subject, the groups of the user. */
  readonly organizations: readonly string[];
}

const tags = { integer: 0x02, bitString: 0x03, sequence: 0x30 };

/**
 * Returns the bytes of a request in PEM, which must be the only block, without headers, and without other lines that
 * look like the beginning or end of one, so that every parser reads the same bytes.
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

/** Parses a request in DER; throws CertificateError if it is malformed. */
export function parseCertificateRequest(bytes: Buffer): ParsedCertificateRequest {
  const [request, ...trailing] = derElements(bytes);
  if (request?.tag !== tags.sequence || trailing.length > 0) throw malformed('it is not a single sequence');
  const [info, algorithm, signature, ...more] = derElements(request.content);
  if (info?.tag !== tags.sequence || algorithm?.tag !== tags.sequence || more.length > 0) {
    throw malformed('it does not consist of request info, algorithm and signature');
  }
  if (signature?.tag !== tags.bitString) throw malformed('it has no signature');
  const [version, subject, key] = derElements(info.content);
  if (version?.tag !== tags.integer || subject?.tag !== tags.sequence || key?.tag !== tags.sequence) {
    throw malformed('its request info does not begin with version, subject and key');
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

/** Digests by the object identifier of the algorithm, in hex. RSASSA-PSS names its digest in its parameters. */
const digests: Readonly<Record<string, string | null>> = {
  // SHA-1 is accepted here: the signature only proves that the sender has the key.
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

/** Returns the digest in the parameters: `[0] { { digest } }`. */
function pssDigest(parameters: DerElement | undefined): string {
  const [first] = derElements(parameters?.content ?? Buffer.alloc(0));
  const [algorithm] = derElements(first?.content ?? Buffer.alloc(0));
  const [id] = derElements(algorithm?.content ?? Buffer.alloc(0));
  const digest = pssDigests[id?.content.toString('hex') ?? ''];
  if (digest === undefined) throw malformed('its digest is unknown');
  return digest;
}

function malformed(reason: string): CertificateError {
  return new CertificateError(`malformed certificate request: ${reason}`);
}
