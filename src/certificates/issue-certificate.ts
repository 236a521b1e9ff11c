import { createPublicKey, webcrypto, type KeyObject, type X509Certificate } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import { CertificateError } from './certificate-error.js';

export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly usage: 'authority' | 'server' | 'client';
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Private key whose public key is certified. */
  readonly key: KeyObject;
  /** Absent for a self-signed certificate. */
  readonly signer?: Signer;
  /** Certificate whose subject is copied, byte for byte, instead of the common name and organizations. */
  readonly predecessor?: X509Certificate;
}

type X509Library = typeof X509;

const extendedUsage = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/**
 * Loads @peculiar/x509 when a certificate has to be issued, since loading takes more than 100 ms. reflect-metadata must
 * be loaded before it.
 */
let library: Promise<X509Library> | undefined;
export function loadX509(): Promise<X509Library> {
  library ??= import('reflect-metadata').then(() => import('@peculiar/x509'));
  return library;
}

/** Issues a certificate and returns it as PEM. */
export async function issueCertificate(request: CertificateRequest): Promise<string> {
  const x509 = await loadX509();
  const signingKey = request.signer?.key ?? request.key;
  const [publicKey, privateKey] = await Promise.all([publicCryptoKey(request.key), signingCryptoKey(signingKey)]);
  const issuer = request.signer && new x509.X509Certificate(request.signer.certificate.raw);
  const name = subjectName(x509, request);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: name,
      issuer: issuer?.subjectName ?? name,
      publicKey,
      signingKey: privateKey,
      signingAlgorithm:
        privateKey.algorithm.name === 'ECDSA' ? { name: 'ECDSA', hash: 'SHA-256' } : privateKey.algorithm,
      notBefore: new Date(request.notBeforeMs),
      notAfter: new Date(request.notAfterMs),
      extensions: [
        ...usageExtensions(x509, request),
        await x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
        ...authorityExtensions(x509, issuer),
      ],
    },
    webcrypto,
  );
  return `${certificate.toString('pem')}\n`;
}

function subjectName(x509: X509Library, { commonName, organizations = [], predecessor }: CertificateRequest) {
  if (predecessor !== undefined) return new x509.X509Certificate(predecessor.raw).subjectName;
  return new x509.Name([...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }]);
}

function usageExtensions(x509: X509Library, { usage, dns = [], ip = [] }: CertificateRequest) {
  if (usage === 'authority') {
    const flags = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature;
    return [new x509.BasicConstraintsExtension(true, undefined, true), new x509.KeyUsagesExtension(flags, true)];
  }
  const names = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ];
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([extendedUsage[usage]]),
    ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
  ];
}

/** Copies the subject key identifier of the issuer, which another tool may have computed differently. */
function authorityExtensions(x509: X509Library, issuer: InstanceType<X509Library['X509Certificate']> | undefined) {
  const identifier = issuer?.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  return identifier === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(identifier)];
}

function publicCryptoKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', der, algorithmOf(key), true, ['verify']);
}

function signingCryptoKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = key.export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithmOf(key), false, ['sign']);
}

const namedCurves = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);

function algorithmOf(key: KeyObject) {
  const curve = namedCurves.get(key.asymmetricKeyDetails?.namedCurve ?? '');
  if (curve !== undefined) return { name: 'ECDSA', namedCurve: curve };
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  throw new CertificateError(`cannot sign with a key of type ${key.asymmetricKeyType ?? 'unknown'}: use ECDSA or RSA`);
}
