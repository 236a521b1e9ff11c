import { X509Certificate } from 'node:crypto';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../catalog/types/certificates.v1.js';
import { reasonOf } from '../../certificates/certificate-error.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { each, oneOf } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import type { ViewSubresource } from '../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { repeatedValues, valueKey } from '../../machinery/value-key.js';
import type { StrategyContext } from '../../registry/definition/strategy.js';

const at = path('status');
const conditionsAt = at.child('conditions');
type Condition = CertificateSigningRequestCondition;

const decisions = ['Approved', 'Denied'];
const finals = [...decisions, 'Failed'];

/** The status subresource, for signers: sets the certificate or the condition Failed, and cannot change the decision. */
export const signingRequestStatusSubresource: ViewSubresource = statusSubresource<CertificateSigningRequest>({
  prepare: stampConditions,
  validate: (request, old) => [
    ...validateConditions(conditionsOf(request)),
    ...validateFinalsKept(request, old),
    ...validateDecisionKept(request, old),
    ...validateCertificate(request, old),
  ],
});

const approvalStatus = statusSubresource<CertificateSigningRequest>({
  prepare: stampConditions,
  validate: (request, old) => [...validateConditions(conditionsOf(request)), ...validateFinalsKept(request, old)],
});

/** The approval subresource: sets the conditions of the status only. */
export const approvalSubresource: ViewSubresource = {
  ...approvalStatus,
  resetFields: ['spec', 'status/certificate'],
  put(request: CertificateSigningRequest, view: CertificateSigningRequest) {
    const { conditions } = view.status ?? {};
    const { conditions: _removed, ...withoutConditions } = request.status ?? {};
    const status = conditions ? { ...request.status, conditions: structuredClone(conditions) } : withoutConditions;
    return approvalStatus.put(request, { ...view, status });
  },
};

const conditionsOf = ({ status }: CertificateSigningRequest): readonly Condition[] => status?.conditions ?? [];

/** Sets absent times of conditions; a condition whose status stays keeps its lastTransitionTime. */
function stampConditions(
  request: Mutable<CertificateSigningRequest>,
  old: CertificateSigningRequest,
  { now }: StrategyContext,
): void {
  const transitionTimes = new Map<string, string>();
  for (const condition of conditionsOf(old)) {
    const { lastTransitionTime } = condition;
    const key = keyOf(condition);
    if (typeof lastTransitionTime === 'string' && !transitionTimes.has(key))
      transitionTimes.set(key, lastTransitionTime);
  }
  for (const condition of request.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= transitionTimes.get(keyOf(condition)) ?? now;
  }
}

const keyOf = ({ type, status }: Condition): string => valueKey([type, status]);

function validateConditions(conditions: readonly Condition[]): FieldError[] {
  const types = conditions.map(({ type = '' }) => type);
  const isRepeated = repeatedValues(types);
  const errors = each(conditions, conditionsAt, ({ type = '', status = '' }, conditionAt, index) => {
    const statusAt = conditionAt.child('status');
    const allowed = finals.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    return [
      ...(type === '' ? [fieldError.required(conditionAt.child('type'))] : []),
      ...(status === '' ? [fieldError.required(statusAt)] : oneOf(status, statusAt, allowed)),
      ...(isRepeated[index] ? [fieldError.duplicate(conditionAt.child('type'), type)] : []),
    ];
  });
  const decided = types.filter((type) => decisions.includes(type));
  const other = decided.find((type) => type !== decided[0]);
  if (other !== undefined) {
    const message = 'Approved and Denied conditions are mutually exclusive';
    errors.push(fieldError.invalid(conditionsAt, other, message));
  }
  return errors;
}

const ofType = (request: CertificateSigningRequest, type: string): Condition[] =>
  conditionsOf(request).filter((condition) => condition.type === type);

const refuse = (verb: string, type: string): FieldError =>
  fieldError.forbidden(conditionsAt, `updates may not ${verb} a condition of type "${type}"`);

type Request = CertificateSigningRequest;

/** Refuses to remove the conditions Approved, Denied and Failed. */
function validateFinalsKept(request: Request, old: Request): FieldError[] {
  return finals
    .filter((type) => ofType(request, type).length < ofType(old, type).length)
    .map((type) => refuse('remove', type));
}

/** Refuses to add or to change the conditions Approved and Denied. */
function validateDecisionKept(request: Request, old: Request): FieldError[] {
  return decisions.flatMap((type) => {
    const [now, before] = [ofType(request, type), ofType(old, type)];
    if (now.length > before.length) return [refuse('add', type)];
    return now.length === before.length && !deepEqual(now, before) ? [refuse('modify', type)] : [];
  });
}

function validateCertificate(request: Request, old: Request): FieldError[] {
  const { certificate = '' } = request.status ?? {};
  const { certificate: before = '' } = old.status ?? {};
  const certificateAt = at.child('certificate');
  const problem = certificate === '' ? undefined : chainProblem(Buffer.from(certificate, 'base64').toString('latin1'));
  return [
    ...(problem === undefined ? [] : [fieldError.invalid(certificateAt, '<certificate data>', problem)]),
    ...(before === '' || certificate === before
      ? []
      : [fieldError.forbidden(certificateAt, 'updates may not modify existing certificate content')]),
  ];
}

/** Returns the error message of an invalid chain: the certificate and its intermediates. */
function chainProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found "${type}"`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(bytes);
    } catch (error) {
      return reasonOf(error);
    }
  }
  return undefined;
}
