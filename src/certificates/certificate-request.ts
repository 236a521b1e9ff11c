import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { CertificateError } from './certificate-error.js';
import { derElements, type DerElement } from './der.js';

/** A request for a certificate as PKCS#10 has it (RFC 2986): `{ { version, subject, key, attributes }, algorithm, signature }`. */
export interface ParsedCertificateRequest {
  /** Undefined when its algorithm is not known here. */
  readonly publicKey: KeyObject | undefined;
  /** Whether whoever asks has the private key. */
  readonly isSigned: () => boolean;
  /** The groups that whoever gets the certificate is in: the organizations of its subject. */
  readonly organizations: readonly string[];
}

const tags = { integer: 0x02, bitString: 0x03, sequence: 0x30 };
const organizationId = '55040a';

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
  const publicKey = publicKeyOf(key);
  return {
    publicKey,
    isSigned: () => publicKey !== undefined && verifies(info.raw, publicKey, algorithm, signature.content.subarray(1)),
    organizations: organizationsOf(subject),
  };
}

/** A subject is a sequence of sets of pairs: what an attribute is, and its text. */
function organizationsOf(subject: DerElement): string[] {
  const sets = derElements(subject.content);
  const pairs = sets.flatMap((set) => derElements(set.content)).map((pair) => derElements(pair.content));
  return pairs.flatMap(([id, value]) =>
    id?.content.toString('hex') === organizationId && value ? [value.content.toString('utf8')] : [],
  );
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
