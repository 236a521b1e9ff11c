import { X509Certificate } from 'node:crypto';
import type { ClusterTrustBundle } from '../../catalog/types/certificates.v1beta1.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain, nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateSignerName } from './signer-name.validation.js';

const at = path('spec');

export const trustBundleStrategy: Strategy<ClusterTrustBundle> = {
  /** validateBundle checks the name, which depends on the signer. */
  validateName: nameIsPathSegment,
  validateCreate: validateBundle,
  validateUpdate: (bundle, old) => [
    ...validateBundle(bundle),
    ...immutable(signerOf(bundle), signerOf(old), at.child('signerName')),
  ],
};

const signerOf = ({ spec }: ClusterTrustBundle): string => spec?.signerName ?? '';

function validateBundle(bundle: ClusterTrustBundle): FieldError[] {
  const signer = signerOf(bundle);
  return [
    ...checked(bundle.metadata.name ?? '', path('metadata').child('name'), (name) => nameProblems(name, signer)),
    ...(signer === '' ? [] : validateSignerName(signer, at.child('signerName'))),
    ...validateAnchors(bundle.spec?.trustBundle ?? ''),
  ];
}

/** Requires the name of a signer's bundle, and of no other bundle, to begin with the signer: `example.com:name:…`. */
function nameProblems(name: string, signer: string): string[] {
  if (signer === '') {
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : nameIsDnsSubdomain(name);
  }
  const prefix = `${signer.replaceAll('/', ':')}:`;
  return name.startsWith(prefix)
    ? nameIsDnsSubdomain(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

const bundleBytesMax = 1024 * 1024;

function validateAnchors(pem: string): FieldError[] {
  const bundleAt = at.child('trustBundle');
  if (Buffer.byteLength(pem) > bundleBytesMax) return [fieldError.tooLong(bundleAt, bundleBytesMax)];
  const refuse = (message: string) => fieldError.invalid(bundleAt, '<value omitted>', message);
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return [refuse('at least one trust anchor must be provided')];
  const indexesOf = new Map<string, number[]>();
  const errors = blocks.flatMap(({ type, hasHeaders, bytes }, index) => {
    if (type !== 'CERTIFICATE') return [refuse(`entry ${index} has bad block type: ${type}`)];
    if (hasHeaders) return [refuse(`entry ${index} has PEM block headers`)];
    const certificate = parse(bytes);
    if (!certificate) return [refuse(`entry ${index} does not parse as X.509`)];
    const key = certificate.fingerprint512;
    indexesOf.set(key, [...(indexesOf.get(key) ?? []), index]);
    return certificate.ca ? [] : [refuse(`entry ${index} does not have the CA bit set`)];
  });
  const repeated = [...indexesOf.values()].filter((indexes) => indexes.length > 1);
  return [...errors, ...repeated.map((indexes) => refuse(`duplicate trust anchor (indices [${indexes.join(' ')}])`))];
}

function parse(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}
