import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { lifetimeSecondsMin } from './pod-certificate.validation.js';

const at = path('status');
const conditionsAt = at.child('conditions');

/** One of them ends a request. */
export const outcomes: readonly string[] = ['Issued', 'Denied', 'Failed'];

const outcomesOf = (request: KubeObject): Fields[] =>
  asItems(asFields(request['status'])['conditions']).filter(({ type }) => outcomes.includes(asText(type)));

export function validatePodCertificateStatus(request: KubeObject, old: KubeObject): FieldError[] {
  const status = asFields(request['status']);
  if (outcomesOf(old).length > 0) {
    const isSame = deepEqual(status, asFields(old['status']));
    return isSame ? [] : [fieldError.forbidden(at, 'immutable once the request has been issued, denied or has failed')];
  }
  return [
    ...validateConditions(status['conditions'], conditionsAt),
    ...validateOutcome(request),
    ...(outcomesOf(request).some(({ type }) => type === 'Issued')
      ? validateIssued(status, asNumber(asFields(request['spec'])['maxExpirationSeconds']))
      : validateNothingIssued(status)),
  ];
}

function validateOutcome(request: KubeObject): FieldError[] {
  const found = outcomesOf(request);
  const where = String(conditionsAt);
  const errors = found
    .filter(({ status }) => status !== 'True')
    .map(({ type, status }) => fieldError.notSupported(`${where}[${asText(type)}].status`, asText(status), ['True']));
  if (found.length < 2) return errors;
  const message = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
  return [...errors, fieldError.invalid(where, asText(found[1]!['type']), message)];
}

const times = ['notBefore', 'beginRefreshAt', 'notAfter'] as const;

function validateNothingIssued(status: Fields): FieldError[] {
  return ['certificateChain', ...times]
    .filter((field) => isSet(status[field]) && status[field] !== '')
    .map((field) => fieldError.forbidden(at.child(field), 'may only be set together with the condition "Issued"'));
}

/** The refresh lies inside the lifetime, with room on both sides for clocks that differ. */
const refreshMarginMs = 10 * 60 * 1000;

function validateIssued(status: Fields, secondsMax: number): FieldError[] {
  const missing = ['certificateChain', ...times].flatMap((field) => required(status[field], at.child(field)));
  if (missing.length > 0) return missing;
  const chainAt = String(at.child('certificateChain'));
  const leaf = leafOf(asText(status['certificateChain']));
  if (typeof leaf === 'string') return [fieldError.invalid(chainAt, '<certificate chain>', leaf)];

  const [notBefore, beginRefreshAt, notAfter] = times.map((field) => Date.parse(asText(status[field]))) as [
    number,
    number,
    number,
  ];
  const refuse = (field: string, message: string) =>
    fieldError.invalid(at.child(field), asText(status[field]), message);
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

/** The first certificate of the chain, or what is wrong with the chain. */
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
