import { X509Certificate } from 'node:crypto';
import type { Condition } from '../../catalog/types/meta.v1.js';
import type { PodCertificateRequest, PodCertificateRequestStatus } from '../../catalog/types/certificates.v1beta1.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { lifetimeSecondsMin } from './pod-certificate.validation.js';

const at = path('status');
const conditionsAt = at.child('conditions');

/** The conditions that end a request. */
export const outcomes: readonly string[] = ['Issued', 'Denied', 'Failed'];

const outcomesOf = ({ status }: PodCertificateRequest): readonly Condition[] =>
  (status?.conditions ?? []).filter(({ type = '' }) => outcomes.includes(type));

export function validatePodCertificateStatus(request: PodCertificateRequest, old: PodCertificateRequest): FieldError[] {
  const { spec = {}, status = {} } = request;
  if (outcomesOf(old).length > 0) {
    const isSame = deepEqual(status, old.status ?? {});
    return isSame ? [] : [fieldError.forbidden(at, 'immutable once the request has been issued, denied or has failed')];
  }
  return [
    ...validateConditions(status.conditions, conditionsAt),
    ...validateOutcome(request),
    ...(outcomesOf(request).some(({ type }) => type === 'Issued')
      ? validateIssued(status, spec.maxExpirationSeconds ?? 0)
      : validateNothingIssued(status)),
  ];
}

function validateOutcome(request: PodCertificateRequest): FieldError[] {
  const found = outcomesOf(request);
  const errors = found
    .filter(({ status }) => status !== 'True')
    .map(({ type = '', status = '' }) => {
      const statusAt = conditionsAt.key(type).child('status');
      return fieldError.notSupported(statusAt, status, ['True']);
    });
  if (found.length < 2) return errors;
  const message = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
  return [...errors, fieldError.invalid(conditionsAt, found[1]?.type ?? '', message)];
}

const issuedFields = ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'] as const;
type Status = PodCertificateRequestStatus;

function validateNothingIssued(status: Status): FieldError[] {
  return issuedFields
    .filter((field) => status[field])
    .map((field) => fieldError.forbidden(at.child(field), 'may only be set together with the condition "Issued"'));
}

/** The time between the refresh and both ends of the lifetime, for clock skew. */
const refreshMarginMs = 10 * 60 * 1000;

function validateIssued(status: Status, secondsMax: number): FieldError[] {
  const missing = issuedFields.flatMap((field) => required(status[field], at.child(field)));
  if (missing.length > 0) return missing;
  const chainAt = at.child('certificateChain');
  const leaf = leafOf(status.certificateChain ?? '');
  if (typeof leaf === 'string') return [fieldError.invalid(chainAt, '<certificate chain>', leaf)];

  const notBefore = Date.parse(status.notBefore ?? '');
  const beginRefreshAt = Date.parse(status.beginRefreshAt ?? '');
  const notAfter = Date.parse(status.notAfter ?? '');
  const refuse = (field: keyof Status, message: string) =>
    fieldError.invalid(at.child(field), status[field] ?? '', message);
  const seconds = (notAfter - notBefore) / 1000;
  const errors: FieldError[] = [];
  if (notBefore !== Date.parse(leaf.validFrom))
    errors.push(refuse('notBefore', 'must be that of the leaf certificate'));
  if (notAfter !== Date.parse(leaf.validTo)) errors.push(refuse('notAfter', 'must be that of the leaf certificate'));
  if (seconds < lifetimeSecondsMin || seconds > secondsMax) {
    const message = `leaf certificate lifetime must be >= 1 hour and <= spec.maxExpirationSeconds (${secondsMax})`;
    errors.push(fieldError.invalid(chainAt, '<certificate chain>', message));
  }
  if (beginRefreshAt < notBefore + refreshMarginMs) {
    errors.push(refuse('beginRefreshAt', 'must be at least 10 minutes after status.notBefore'));
  }
  if (beginRefreshAt > notAfter - refreshMarginMs) {
    errors.push(refuse('beginRefreshAt', 'must be at least 10 minutes before status.notAfter'));
  }
  return errors;
}

/** Returns the first certificate of the chain, or the error message of an invalid chain. */
function leafOf(pem: string): X509Certificate | string {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return 'must contain at least one certificate';
  try {
    const chain = blocks.map(({ type, bytes }) => {
      if (type !== 'CERTIFICATE') throw new TypeError(type);
      return new X509Certificate(bytes);
    });
    return chain[0]!;
  } catch {
    return 'must consist of PEM blocks that are certificates';
  }
}
