import { randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { CertificateError } from './certificate-error.js';
import {
  derBits,
  derElement,
  derId,
  derNamedBits,
  derNull,
  derOctets,
  derPositive,
  derSequence,
  derTime,
  derTrue,
} from './der-writer.js';
import { identityOfCertificate } from './certificate-identity.js';
import { certificateFacts, certificateSubject, derElements, extensionIds } from './der.js';
import type { Signer } from './issue-certificate.js';
import { validToMs } from './pem.js';
import type { AlternativeNames, RequestedCertificate } from './requested-certificate.js';

interface SigningOptions {
  /** spec.usages of the CertificateSigningRequest. */
  readonly usages: readonly string[];
  readonly lifetimeMs: number;
  readonly nowMs: number;
}

/** As kube-controller-manager: certificates are backdated by five minutes; a short lifetime is not reduced by that. */
const backdateMs = 5 * 60_000;
const shortMs = 8 * 3_600_000;

/**
 * Signs a leaf certificate for a request and returns PEM. Subject and public key are copied byte for byte, alternative
 * names by type; nothing else of the request is copied, so that the certificate is never a CA.
 */
export function signRequest(request: RequestedCertificate, signer: Signer, options: SigningOptions): string {
  const { usages, lifetimeMs, nowMs } = options;
  const endMs = validToMs(signer.certificate);
  if (endMs <= nowMs) {
    throw new CertificateError(`refusing to sign: the signing certificate expired at ${signer.certificate.validTo}`);
  }
  const lateMs = lifetimeMs < shortMs ? nowMs + lifetimeMs : nowMs - backdateMs + lifetimeMs;
  const algorithm = algorithmOf(signer.key);
  const version = derElement(0xa0, derPositive(Buffer.from([2])));
  const extensions = [
    ...usageExtensions(usages),
    extension(extensionIds.basicConstraints, derSequence(), 'critical'),
    ...authorityExtensions(signer.certificate),
    ...nameExtensions(request),
  ];
  const contents = derSequence(
    version,
    derPositive(randomBytes(16)),
    algorithm.id,
    // The issuer must equal the subject of the signer byte for byte.
    certificateSubject(signer.certificate.raw).raw,
    derSequence(derTime(nowMs - backdateMs), derTime(Math.min(lateMs, endMs))),
    request.raw.subject,
    request.raw.publicKey,
    derElement(0xa3, derSequence(...extensions)),
  );
  const signature = sign(algorithm.digest, contents, signer.key);
  const certificate = new X509Certificate(derSequence(contents, algorithm.id, derBits(signature)));
  if (certificate.ca || !certificate.verify(signer.certificate.publicKey)) {
    throw new CertificateError('the signed certificate is not a leaf of its signer');
  }
  checkIdentity(certificate, request);
  return certificate.toString();
}

/** Checks that authentication reads the same user and groups from the certificate as the signer from the request. */
function checkIdentity(certificate: X509Certificate, { commonName, organizations }: RequestedCertificate): void {
  const identity = identityOfCertificate(certificate, '');
  const groups = identity?.groups ?? organizations;
  const isSame =
    (identity?.name ?? '') === commonName &&
    groups.length === organizations.length &&
    groups.every((group, index) => group === organizations[index]);
  if (!isSame) throw new CertificateError('the subject of the request can be read in more than one way');
}

const critical = 'critical';

function extension(id: string, value: Buffer, isCritical?: typeof critical): Buffer {
  return derSequence(derId(id), ...(isCritical ? [derTrue] : []), derOctets(value));
}

/** Bits of KeyUsage (RFC 5280, 4.2.1.3) by the names in the API. */
const keyUsages: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

const extendedUsages: Readonly<Record<string, string>> = {
  any: '551d2500',
  'server auth': '2b06010505070301',
  'client auth': '2b06010505070302',
  'code signing': '2b06010505070303',
  'email protection': '2b06010505070304',
  's/mime': '2b06010505070304',
  'ipsec end system': '2b06010505070305',
  'ipsec tunnel': '2b06010505070306',
  'ipsec user': '2b06010505070307',
  timestamping: '2b06010505070308',
  'ocsp signing': '2b06010505070309',
  'microsoft sgc': '2b0601040182370a0303',
  'netscape sgc': '6086480186f8420401',
};

function usageExtensions(usages: readonly string[]): Buffer[] {
  const unknown = usages.find((usage) => !Object.hasOwn(keyUsages, usage) && !Object.hasOwn(extendedUsages, usage));
  if (unknown !== undefined) throw new CertificateError(`unrecognized usage "${unknown}"`);
  const bits = usages.flatMap((usage) => keyUsages[usage] ?? []);
  const purposes = [...new Set(usages.flatMap((usage) => extendedUsages[usage] ?? []))];
  return [
    ...(bits.length > 0 ? [extension(extensionIds.keyUsage, derNamedBits(bits), critical)] : []),
    ...(purposes.length > 0 ? [extension(extensionIds.extendedKeyUsage, derSequence(...purposes.map(derId)))] : []),
  ];
}

function authorityExtensions(authority: X509Certificate): Buffer[] {
  const identifier = certificateFacts(authority).extensions.get(extensionIds.subjectKeyIdentifier);
  const [octets] = identifier ? derElements(identifier.value) : [];
  if (!octets) return [];
  return [extension(extensionIds.authorityKeyIdentifier, derSequence(derElement(0x80, octets.content)))];
}

/** Returns the subject alternative name, critical if the subject is empty (RFC 5280, 4.2.1.6). */
function nameExtensions({ names, raw }: RequestedCertificate): Buffer[] {
  const elements = nameElements(names);
  if (elements.length === 0) return [];
  const isAlone = derElements(raw.subject)[0]!.content.length === 0;
  return [extension(extensionIds.subjectAltName, derSequence(...elements), isAlone ? critical : undefined)];
}

function nameElements({ dns, email, uri, ip }: AlternativeNames): Buffer[] {
  const text = (tag: number) => (name: string) => derElement(tag, Buffer.from(name, 'latin1'));
  return [
    ...dns.map(text(0x82)),
    ...email.map(text(0x81)),
    ...ip.map((address) => derElement(0x87, address)),
    ...uri.map(text(0x86)),
  ];
}

/**
 * Returns the algorithm for the signer's key: ECDSA with a digest of the size of its curve, RSA with SHA-256, Ed25519.
 */
function algorithmOf(key: KeyObject): { readonly id: Buffer; readonly digest: string | null } {
  if (key.asymmetricKeyType === 'rsa') {
    return { id: derSequence(derId('2a864886f70d01010b'), derNull), digest: 'sha256' };
  }
  if (key.asymmetricKeyType === 'ed25519') return { id: derSequence(derId('2b6570')), digest: null };
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (!curve) throw new CertificateError(`cannot sign with a key of type ${key.asymmetricKeyType}: use ECDSA or RSA`);
  return { id: derSequence(derId(curve.id)), digest: curve.digest };
}

const curves: Readonly<Record<string, { readonly id: string; readonly digest: string }>> = {
  prime256v1: { id: '2a8648ce3d040302', digest: 'sha256' },
  secp384r1: { id: '2a8648ce3d040303', digest: 'sha384' },
  secp521r1: { id: '2a8648ce3d040304', digest: 'sha512' },
};
