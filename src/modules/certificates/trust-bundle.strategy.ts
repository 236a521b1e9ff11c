import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asText } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateSignerName } from './signer-name.validation.js';

const at = path('spec');

export const trustBundleStrategy: Strategy = {
  /** Which names are good depends on the signer. */
  validateName: nameIsPathSegment,
  validateCreate: validateBundle,
  validateUpdate: (bundle, old) => [
    ...validateBundle(bundle),
    ...immutable(signerOf(bundle), signerOf(old), at.child('signerName')),
  ],
};

const signerOf = (bundle: KubeObject): string => asText(asFields(bundle['spec'])['signerName']);

function validateBundle(bundle: KubeObject): FieldError[] {
  const signer = signerOf(bundle);
  return [
    ...checked(bundle.metadata.name ?? '', path('metadata').child('name'), (name) => nameProblems(name, signer)),
    ...(signer === '' ? [] : validateSignerName(signer, at.child('signerName'))),
    ...validateAnchors(asText(asFields(bundle['spec'])['trustBundle'])),
  ];
}

/** `example.com/name` → `example.com:name:…`, so that nobody takes the names of a signer's bundles. */
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
  const where = String(at.child('trustBundle'));
  if (Buffer.byteLength(pem) > bundleBytesMax) return [fieldError.tooLong(where, bundleBytesMax)];
  const refuse = (message: string) => fieldError.invalid(where, '<value omitted>', message);
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return [refuse('at least one trust anchor must be provided')];
  const places = new Map<string, number[]>();
  const errors = blocks.flatMap(({ type, hasHeaders, bytes }, index) => {
    if (type !== 'CERTIFICATE') return [refuse(`entry ${index} has bad block type: ${type}`)];
    if (hasHeaders) return [refuse(`entry ${index} has PEM block headers`)];
    const certificate = parse(bytes);
    if (!certificate) return [refuse(`entry ${index} does not parse as X.509`)];
    const key = certificate.fingerprint512;
    places.set(key, [...(places.get(key) ?? []), index]);
    return certificate.ca ? [] : [refuse(`entry ${index} does not have the CA bit set`)];
  });
  const repeated = [...places.values()].filter((indexes) => indexes.length > 1);
  return [...errors, ...repeated.map((indexes) => refuse(`duplicate trust anchor (indices [${indexes.join(' ')}])`))];
}

function parse(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}
