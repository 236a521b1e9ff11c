import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import type { PodCertificateRequestSpec } from '../../catalog/types/certificates.v1beta1.js';
import { parseCertificateRequest } from '../../certificates/certificate-request.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateAnnotations } from '../../machinery/object-meta-validation.js';
import { validateSignerName } from './signer-name.validation.js';

const at = path('spec');
const uidBytesMax = 128;
const keyBytesMax = 10 * 1024;
export const lifetimeSecondsMin = 60 * 60;
const lifetimeSecondsMax = 91 * 24 * 60 * 60;
/** The limit of the signers of Kubernetes itself. */
const ownLifetimeSecondsMax = 24 * 60 * 60;

const nameFields = ['podName', 'serviceAccountName', 'nodeName'] as const;
const uidFields = ['podUID', 'serviceAccountUID', 'nodeUID'] as const;

/** Validates the spec; `ownSigners` is the prefix of the names of the signers of Kubernetes itself. */
export function validatePodCertificateSpec(spec: PodCertificateRequestSpec, ownSigners: string): FieldError[] {
  const { signerName: signer = '', maxExpirationSeconds = 0, unverifiedUserAnnotations = {} } = spec;
  return [
    ...validateSignerName(signer, at.child('signerName')),
    ...nameFields.flatMap((field) => checked(spec[field] ?? '', at.child(field), nameIsDnsSubdomain)),
    ...uidFields.flatMap((field) => validateUid(spec[field] ?? '', field)),
    ...validateLifetime(maxExpirationSeconds, signer.startsWith(ownSigners)),
    ...validateUserAnnotations(unverifiedUserAnnotations),
    ...validateKey(spec),
  ];
}

function validateUid(uid: string, field: string): FieldError[] {
  const uidAt = at.child(field);
  if (uid === '') return required(uid, uidAt, 'must not be empty');
  return Buffer.byteLength(uid) > uidBytesMax ? [fieldError.tooLong(uidAt, uidBytesMax)] : [];
}

function validateLifetime(seconds: number, isOwn: boolean): FieldError[] {
  const max = isOwn ? ownLifetimeSecondsMax : lifetimeSecondsMax;
  if (seconds >= lifetimeSecondsMin && seconds <= max) return [];
  return [
    fieldError.invalid(
      at.child('maxExpirationSeconds'),
      seconds,
      `must be in the range [${lifetimeSecondsMin}, ${max}]`,
    ),
  ];
}

function validateUserAnnotations(annotations: Readonly<Record<string, string>>): FieldError[] {
  const annotationsAt = at.child('unverifiedUserAnnotations');
  return [
    ...validateAnnotations(annotations, String(annotationsAt)),
    ...Object.keys(annotations)
      .filter((key) => !key.includes('/'))
      .map((key) => fieldError.invalid(annotationsAt, key, 'must be domain-prefixed, such as "acme.io/foo"')),
  ];
}

const plainKeyFields = ['pkixPublicKey', 'proofOfPossession'] as const;

/** Requires a signed PKCS#10 request, or a public key and a proof that the node has the private key. */
function validateKey(spec: PodCertificateRequestSpec): FieldError[] {
  const { stubPKCS10Request: request, pkixPublicKey: key, proofOfPossession: proof, podUID = '' } = spec;
  if (!request) return validatePlainKey(key ?? '', proof ?? '', podUID);
  return [
    ...plainKeyFields
      .filter((field) => spec[field])
      .map((field) => fieldError.forbidden(at.child(field), 'must be empty when stubPKCS10Request is set')),
    ...validateStubRequest(request),
  ];
}

function validateStubRequest(base64: string): FieldError[] {
  const requestAt = at.child('stubPKCS10Request');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > keyBytesMax) return [fieldError.tooLong(requestAt, keyBytesMax)];
  const refuse = (message: string) => [fieldError.invalid(requestAt, '<stub request>', message)];
  try {
    const { publicKey, isSigned } = parseCertificateRequest(bytes);
    if (!isSigned()) return refuse('must be signed by the key that it contains');
    return keyProblems(publicKey).flatMap(refuse);
  } catch {
    return refuse('must be a valid DER-serialized PKCS#10 certificate signing request');
  }
}

function validatePlainKey(base64: string, proof: string, uid: string): FieldError[] {
  const keyAt = at.child('pkixPublicKey');
  const bytes = Buffer.from(base64, 'base64');
  const proofAt = at.child('proofOfPossession');
  const signature = Buffer.from(proof, 'base64');
  if (bytes.length > keyBytesMax) return [fieldError.tooLong(keyAt, keyBytesMax)];
  if (signature.length > keyBytesMax) return [fieldError.tooLong(proofAt, keyBytesMax)];
  const key = publicKeyOf(bytes);
  if (!key) return [fieldError.invalid(keyAt, '<public key>', 'must be a valid PKIX-serialized public key')];
  const problems = keyProblems(key);
  if (problems.length > 0) return problems.map((problem) => fieldError.invalid(keyAt, '<public key>', problem));
  if (isProof(key, uid, signature)) return [];
  return [fieldError.invalid(proofAt, '<proof of possession>', 'could not verify proof-of-possession signature')];
}

function publicKeyOf(bytes: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

const rsaBits = [3072, 4096];
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

function keyProblems(key: KeyObject | undefined): string[] {
  const { modulusLength, namedCurve } = key?.asymmetricKeyDetails ?? {};
  switch (key?.asymmetricKeyType) {
    case 'rsa':
      return rsaBits.includes(modulusLength ?? 0) ? [] : ['RSA keys must have modulus size 3072 or 4096'];
    case 'ec':
      return curves.includes(namedCurve ?? '') ? [] : ['elliptic public keys must use curve P256, P384 or P521'];
    case 'ed25519':
      return [];
    default:
      return ['unknown public key type; supported types are RSA, ECDSA, and ED25519'];
  }
}

/** True if the key has signed the Pod's UID: its SHA-256 digest for RSA and ECDSA, the UID itself for Ed25519. */
function isProof(key: KeyObject, uid: string, signature: Buffer): boolean {
  const signed = Buffer.from(uid);
  try {
    switch (key.asymmetricKeyType) {
      case 'rsa': {
        const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
        return verify('sha256', signed, { key, ...padding }, signature);
      }
      case 'ec':
        return verify('sha256', signed, key, signature);
      default:
        return verify(null, signed, key, signature);
    }
  } catch {
    return false;
  }
}
