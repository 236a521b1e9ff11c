import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { parseCertificateRequest } from '../../certificates/certificate-request.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asNumber, asText, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateAnnotations } from '../../machinery/object-meta-validation.js';
import { validateSignerName } from './signer-name.validation.js';

const at = path('spec');
const uidBytesMax = 128;
const keyBytesMax = 10 * 1024;
export const lifetimeSecondsMin = 60 * 60;
const lifetimeSecondsMax = 91 * 24 * 60 * 60;
/** Signers that belong to the cluster give out nothing that outlives a day. */
const ownLifetimeSecondsMax = 24 * 60 * 60;

export function validatePodCertificateSpec(spec: Fields, ownSigners: string): FieldError[] {
  const signer = asText(spec['signerName']);
  return [
    ...validateSignerName(signer, at.child('signerName')),
    ...['podName', 'serviceAccountName', 'nodeName'].flatMap((field) =>
      checked(asText(spec[field]), at.child(field), nameIsDnsSubdomain),
    ),
    ...['podUID', 'serviceAccountUID', 'nodeUID'].flatMap((field) => validateUid(asText(spec[field]), field)),
    ...validateLifetime(spec['maxExpirationSeconds'], signer.startsWith(ownSigners)),
    ...validateUserAnnotations(asFields(spec['unverifiedUserAnnotations'])),
    ...validateKey(spec),
  ];
}

function validateUid(uid: string, field: string): FieldError[] {
  const uidAt = at.child(field);
  if (uid === '') return required(uid, uidAt, 'must not be empty');
  return Buffer.byteLength(uid) > uidBytesMax ? [fieldError.tooLong(uidAt, uidBytesMax)] : [];
}

function validateLifetime(seconds: unknown, isOwn: boolean): FieldError[] {
  const max = isOwn ? ownLifetimeSecondsMax : lifetimeSecondsMax;
  const value = asNumber(seconds);
  if (value >= lifetimeSecondsMin && value <= max) return [];
  const where = String(at.child('maxExpirationSeconds'));
  return [fieldError.invalid(where, value, `must be in the range [${lifetimeSecondsMin}, ${max}]`)];
}

function validateUserAnnotations(annotations: Fields): FieldError[] {
  const where = at.child('unverifiedUserAnnotations');
  return [
    ...validateAnnotations(annotations as Record<string, string>, String(where)),
    ...Object.keys(annotations)
      .filter((key) => !key.includes('/'))
      .map((key) => fieldError.invalid(where, key, 'must be domain-prefixed, such as "acme.io/foo"')),
  ];
}

/** Either a whole request that the key has signed, or the key and a proof that the node has its other half. */
function validateKey(spec: Fields): FieldError[] {
  const request = asText(spec['stubPKCS10Request']);
  const key = asText(spec['pkixPublicKey']);
  const proof = asText(spec['proofOfPossession']);
  if (request === '') return validatePlainKey(key, proof, asText(spec['podUID']));
  const others = { pkixPublicKey: key, proofOfPossession: proof };
  return [
    ...Object.entries(others).flatMap(([field, value]) =>
      value === '' ? [] : [fieldError.forbidden(at.child(field), 'must be empty when stubPKCS10Request is set')],
    ),
    ...validateStubRequest(request),
  ];
}

function validateStubRequest(base64: string): FieldError[] {
  const where = String(at.child('stubPKCS10Request'));
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > keyBytesMax) return [fieldError.tooLong(where, keyBytesMax)];
  const refuse = (message: string) => [fieldError.invalid(where, '<stub request>', message)];
  try {
    const { publicKey, isSigned } = parseCertificateRequest(bytes);
    if (!isSigned()) return refuse('must be signed by the key that it contains');
    return keyProblems(publicKey).flatMap(refuse);
  } catch {
    return refuse('must be a valid DER-serialized PKCS#10 certificate signing request');
  }
}

function validatePlainKey(base64: string, proof: string, uid: string): FieldError[] {
  const where = String(at.child('pkixPublicKey'));
  const bytes = Buffer.from(base64, 'base64');
  const proofAt = String(at.child('proofOfPossession'));
  const signature = Buffer.from(proof, 'base64');
  if (bytes.length > keyBytesMax) return [fieldError.tooLong(where, keyBytesMax)];
  if (signature.length > keyBytesMax) return [fieldError.tooLong(proofAt, keyBytesMax)];
  const key = publicKeyOf(bytes);
  if (!key) return [fieldError.invalid(where, '<public key>', 'must be a valid PKIX-serialized public key')];
  const problems = keyProblems(key);
  if (problems.length > 0) return problems.map((problem) => fieldError.invalid(where, '<public key>', problem));
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

/** What is signed is the pod's uid; Ed25519 hashes on its own, the others over the digest that Go takes. */
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
