import { createHash, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { CertificateError, reasonOf } from './certificate-error.js';

export interface KeyPairPem {
  /** The certificate, followed by intermediates. */
  readonly certificate: string;
  readonly key: string;
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Parses all certificates of a PEM text, in order. `file` is named in errors. */
export function parseCertificates(pem: string, file: string): X509Certificate[] {
  const blocks = pem.match(certificateBlock) ?? [];
  if (blocks.length === 0) throw new CertificateError(`${file} holds no PEM certificate`);
  return blocks.map((block, index) => {
    try {
      return parseCertificate(block);
    } catch (error) {
      throw new CertificateError(`certificate ${index + 1} of ${file} is damaged: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  });
}

/** The last certificates that were parsed, by a digest of their PEM or DER: servers of one process read the same ones. */
const parsed = new Map<string, X509Certificate>();
const parsedMax = 64;
const keptBytesMax = 8192;

/** Parses a certificate in PEM or DER. Throws the error of OpenSSL. */
export function parseCertificate(encoded: string | Buffer): X509Certificate {
  if (encoded.length > keptBytesMax) return new X509Certificate(encoded);
  const digest = createHash('sha256').update(encoded).digest('base64');
  const known = parsed.get(digest);
  if (known) return known;
  const certificate = new X509Certificate(encoded);
  parsed.set(digest, certificate);
  const [oldest] = parsed.keys();
  if (parsed.size > parsedMax) parsed.delete(oldest!);
  return certificate;
}

export function parsePrivateKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new CertificateError(`${file} holds no usable unencrypted PEM private key: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Parses a certificate with its key; throws if a TLS server cannot use them. */
export function parseServingPair(pair: KeyPairPem, files: { certificate: string; key: string }): KeyPairPem {
  const [leaf] = parseCertificates(pair.certificate, files.certificate);
  const key = parsePrivateKey(pair.key, files.key);
  if (!leaf!.checkPrivateKey(key)) {
    throw new CertificateError(
      `the key in ${files.key} does not belong to the first certificate in ${files.certificate}`,
    );
  }
  try {
    // OpenSSL has further requirements, such as a minimum size of keys.
    createSecureContext({ cert: pair.certificate, key: pair.key });
  } catch (error) {
    throw new CertificateError(`${files.certificate} cannot be used as serving certificate: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return pair;
}

export const validFromMs = (certificate: X509Certificate): number => Date.parse(certificate.validFrom);
export const validToMs = (certificate: X509Certificate): number => Date.parse(certificate.validTo);
