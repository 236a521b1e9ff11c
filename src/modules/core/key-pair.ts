import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { pemBlocks, type PemBlock } from '../../certificates/pem-blocks.js';

/** Returns the error message of Go's TLS library for a PEM certificate and key; undefined if they are a valid pair. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const [chain, others] = split(pemBlocks(certificate), (type) => type === 'CERTIFICATE');
  const [leaf] = chain;
  if (leaf === undefined) return missingCertificate(others.map(({ type }) => type));
  const [keys, skipped] = split(pemBlocks(key), isKey);
  const [first] = keys;
  if (first === undefined) return missingKey(skipped.map(({ type }) => type));
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(leaf.bytes);
  } catch {
    return 'x509: malformed certificate';
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(first.text);
  } catch {
    return 'tls: failed to parse private key';
  }
  if (privateKey.asymmetricKeyType !== parsed.publicKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type';
  }
  return parsed.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

function split(blocks: readonly PemBlock[], isWanted: (type: string) => boolean): [PemBlock[], PemBlock[]] {
  return [blocks.filter(({ type }) => isWanted(type)), blocks.filter(({ type }) => !isWanted(type))];
}

function missingCertificate(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && isKey(skipped[0]!)) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}

function missingKey(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}
