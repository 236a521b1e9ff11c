import type { CertificateSigningRequest, CertificateSigningRequestSpec } from '../../catalog/types/certificates.v1.js';
import { CertificateError } from '../../certificates/certificate-error.js';
import { parsePemCertificateRequest } from '../../certificates/certificate-request.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateSignerName } from './signer-name.validation.js';

const at = path('spec');

/** The spec is immutable; the status and approval subresources write the status. */
export function signingRequestStrategy(naming: NamingProfile): Strategy<CertificateSigningRequest> {
  const legacySigner = naming.label('legacy-unknown');
  return {
    validateName: nameIsPathSegment,
    prepareForCreate(request, { user }) {
      setRequester((request.spec ??= {}), user);
    },
    prepareForUpdate(request, old) {
      request.spec = old.spec;
    },
    validateCreate({ spec = {} }) {
      const { signerName: signer = '', usages = [], expirationSeconds } = spec;
      const signerAt = at.child('signerName');
      return [
        ...validateRequest(spec.request ?? ''),
        ...validateUsages(usages),
        ...validateExpiration(expirationSeconds),
        ...validateSignerName(signer, signerAt),
        ...(signer === legacySigner
          ? [fieldError.invalid(signerAt, signer, 'the legacy signerName is not allowed via this API version')]
          : []),
      ];
    },
  };
}

/** Sets the fields of the requester to the authenticated user, whatever the client submitted. */
function setRequester(spec: Mutable<CertificateSigningRequestSpec>, { name, uid, groups, extra }: UserInfo): void {
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field];
  if (name !== '') spec.username = name;
  if (uid !== '') spec.uid = uid;
  if (groups.length > 0) spec.groups = [...groups];
  if (Object.keys(extra).length > 0) {
    spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  }
}

/** The error messages of Go's crypto packages, by the type of the key. */
const wrongSignatures: Readonly<Record<string, string>> = {
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
  rsa: 'crypto/rsa: verification error',
};
const unknownAlgorithm = 'x509: cannot verify signature: algorithm unimplemented';

function validateRequest(base64: string): FieldError[] {
  const refuse = (message: string) => [fieldError.invalid(at.child('request'), base64 === '' ? null : base64, message)];
  try {
    const { isSigned, publicKey } = parsePemCertificateRequest(Buffer.from(base64, 'base64').toString('latin1'));
    return isSigned() ? [] : refuse(wrongSignatures[publicKey?.asymmetricKeyType ?? ''] ?? unknownAlgorithm);
  } catch (error) {
    if (error instanceof CertificateError) return refuse(error.message);
    throw error;
  }
}

const keyUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validateUsages(usages: readonly string[]): FieldError[] {
  const usagesAt = at.child('usages');
  if (usages.length === 0) return [fieldError.required(usagesAt)];
  const isRepeated = repeatedValues(usages);
  return usages.flatMap((usage, index) => [
    ...oneOf(usage, usagesAt.index(index), keyUsages),
    ...(isRepeated[index] ? [fieldError.duplicate(usagesAt.index(index), usage)] : []),
  ]);
}

const expirationSecondsMin = 600;

function validateExpiration(seconds: number | undefined): FieldError[] {
  if (seconds === undefined || seconds >= expirationSecondsMin) return [];
  const message = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [fieldError.invalid(at.child('expirationSeconds'), seconds, message)];
}
