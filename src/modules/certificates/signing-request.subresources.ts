import { X509Certificate } from 'node:crypto';
import { reasonOf } from '../../certificates/certificate-error.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { each, oneOf } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ViewSubresource } from '../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { repeatedValues, valueKey } from '../../machinery/value-key.js';
import type { StrategyContext } from '../../registry/definition/strategy.js';

const at = path('status');
const conditionsAt = at.child('conditions');
const decisions = ['Approved', 'Denied'];
const finals = [...decisions, 'Failed'];

/** Who may sign sets the certificate, or says that it failed; the decision is not theirs. */
export const signingRequestStatusSubresource: ViewSubresource = statusSubresource({
  prepare: stampConditions,
  validate: (request, old) => [
    ...validateConditions(conditionsOf(request)),
    ...validateKept(request, old),
    ...validateDecisionKept(request, old),
    ...validateCertificate(request, old),
  ],
});

const approvalParts = statusSubresource({
  prepare: stampConditions,
  validate: (request, old) => [...validateConditions(conditionsOf(request)), ...validateKept(request, old)],
});

/** The decision whether the certificate may be signed: of the status, only conditions are taken. */
export const approvalSubresource: ViewSubresource = {
  ...approvalParts,
  resetFields: ['spec', 'status/certificate'],
  put(request, view) {
    const { conditions } = asFields(view['status']);
    const status: Fields = { ...asFields(request['status']), conditions: structuredClone(conditions) };
    if (!isSet(conditions)) delete status['conditions'];
    return approvalParts.put(request, { ...view, status });
  },
};

const conditionsOf = (request: KubeObject): Fields[] => asItems(asFields(request['status'])['conditions']);

function stampConditions(request: KubeObject, old: KubeObject, { now }: StrategyContext): void {
  const before = new Map<string, Fields>();
  for (const condition of conditionsOf(old)) {
    const key = keyOf(condition);
    if (isSet(condition['lastTransitionTime']) && !before.has(key)) before.set(key, condition);
  }
  for (const condition of conditionsOf(request)) {
    if (!isSet(condition['lastUpdateTime'])) condition['lastUpdateTime'] = now;
    if (isSet(condition['lastTransitionTime'])) continue;
    condition['lastTransitionTime'] = before.get(keyOf(condition))?.['lastTransitionTime'] ?? now;
  }
}

const keyOf = ({ type, status }: Fields): string => valueKey([type, status]);

function validateConditions(conditions: readonly Fields[]): FieldError[] {
  const types = conditions.map((condition) => asText(condition['type']));
  const isAgain = repeatedValues(types);
  const errors = each(conditions, conditionsAt, (condition, conditionAt, index) => {
    const type = types[index]!;
    const status = asText(condition['status']);
    const statusAt = conditionAt.child('status');
    const allowed = finals.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    return [
      ...(type === '' ? [fieldError.required(conditionAt.child('type'))] : []),
      ...(status === '' ? [fieldError.required(statusAt)] : oneOf(status, statusAt, allowed)),
      ...(isAgain[index] ? [fieldError.duplicate(conditionAt.child('type'), type)] : []),
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

const ofType = (request: KubeObject, type: string): Fields[] =>
  conditionsOf(request).filter((condition) => condition['type'] === type);

const refuse = (what: string, type: string): FieldError =>
  fieldError.forbidden(conditionsAt, `updates may not ${what} a condition of type "${type}"`);

/** What was decided, or has failed, stays so. */
function validateKept(request: KubeObject, old: KubeObject): FieldError[] {
  return finals
    .filter((type) => ofType(request, type).length < ofType(old, type).length)
    .map((type) => refuse('remove', type));
}

function validateDecisionKept(request: KubeObject, old: KubeObject): FieldError[] {
  return decisions.flatMap((type) => {
    const [now, before] = [ofType(request, type), ofType(old, type)];
    if (now.length > before.length) return [refuse('add', type)];
    return now.length === before.length && !deepEqual(now, before) ? [refuse('modify', type)] : [];
  });
}

function validateCertificate(request: KubeObject, old: KubeObject): FieldError[] {
  const certificate = asText(asFields(request['status'])['certificate']);
  const before = asText(asFields(old['status'])['certificate']);
  const where = String(at.child('certificate'));
  const problem = certificate === '' ? undefined : chainProblem(Buffer.from(certificate, 'base64').toString('latin1'));
  return [
    ...(problem === undefined ? [] : [fieldError.invalid(where, '<certificate data>', problem)]),
    ...(before === '' || certificate === before
      ? []
      : [fieldError.forbidden(where, 'updates may not modify existing certificate content')]),
  ];
}

/** The certificate, and the intermediates that it needs. */
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
