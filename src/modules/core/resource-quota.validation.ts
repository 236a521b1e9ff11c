import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { isNegative, isWhole } from './pod/pod-resources.js';
import { isQuotaResource, integerResources, validateQuotaResourceName } from './pod/resource-names.js';

const at = path('spec');

const ofPods = ['pods'];
const computing = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const ofClaims = ['persistentvolumeclaims', 'requests.storage'];

/** Which pods (or claims) a quota counts, and which of the resources can be counted for them alone. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  Terminating: [...ofPods, ...computing],
  NotTerminating: [...ofPods, ...computing],
  BestEffort: ofPods,
  NotBestEffort: [...ofPods, ...computing],
  PriorityClass: [...ofPods, ...computing],
  CrossNamespacePodAffinity: [...ofPods, ...computing],
  VolumeAttributesClass: ofClaims,
};
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
/** These either hold or do not: there is no value to compare with. */
const withoutValue = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

export function validateQuota(quota: KubeObject): FieldError[] {
  const spec = asFields(quota['spec']);
  return [...validateAmounts(spec['hard'], at.child('hard')), ...validateScopes(spec), ...validateScopeSelector(spec)];
}

function validateAmounts(amounts: unknown, amountsAt: FieldPath): FieldError[] {
  return Object.entries(asFields(amounts)).flatMap(([name, amount]) => {
    const amountAt = amountsAt.key(name);
    const errors = validateQuotaResourceName(name, amountAt);
    const refuse = (message: string) => errors.push(fieldError.invalid(amountAt, amount, message));
    if (isNegative(amount)) refuse('must be greater than or equal to 0');
    if (integerResources.has(name) && !isWhole(amount)) refuse('must be an integer');
    return errors;
  });
}

/** Tells if a scope leaves something of every resource that is limited; each scope is looked at once. */
function appliesTo(spec: Fields): (scope: string) => boolean {
  const limited = Object.keys(asFields(spec['hard'])).filter(isQuotaResource);
  const known = new Map<string, boolean>();
  return (scope) => {
    const countable = Object.hasOwn(scopes, scope) ? scopes[scope] : undefined;
    if (countable === undefined) return true;
    let isFine = known.get(scope);
    if (isFine === undefined) known.set(scope, (isFine = limited.every((name) => countable.includes(name))));
    return isFine;
  };
}

const conflict = (given: readonly string[]): boolean =>
  opposites.some((pair) => pair.every((scope) => given.includes(scope)));

function validateScopes(spec: Fields): FieldError[] {
  const given = asTexts(spec['scopes']);
  const applies = appliesTo(spec);
  const refused = (message: string) => fieldError.invalid(at.child('scopes'), spec['scopes'], message);
  return [
    ...given.flatMap((scope) => [
      ...(Object.hasOwn(scopes, scope) ? [] : [refused('unsupported scope')]),
      ...(applies(scope) ? [] : [refused('unsupported scope applied to resource')]),
    ]),
    ...(conflict(given) ? [refused('conflicting scopes')] : []),
  ];
}

function validateScopeSelector(spec: Fields): FieldError[] {
  const selectorAt = at.child('scopeSelector', 'matchExpressions');
  const expressions = asItems(asFields(spec['scopeSelector'])['matchExpressions']);
  const applies = appliesTo(spec);
  const errors = expressions.flatMap((expression) => validateScopeExpression(expression, spec, applies, selectorAt));
  if (conflict(expressions.map((expression) => asText(expression['scopeName'])))) {
    errors.push(fieldError.invalid(selectorAt, spec['scopeSelector'], 'conflicting scopes'));
  }
  return errors;
}

/** Clients know the paths of these errors without the position in the list. */
function validateScopeExpression(
  expression: Fields,
  spec: Fields,
  applies: (scope: string) => boolean,
  selectorAt: FieldPath,
): FieldError[] {
  const scope = asText(expression['scopeName']);
  const operator = asText(expression['operator']);
  const values = asTexts(expression['values']);
  const errors: FieldError[] = [];
  const refuse = (where: FieldPath, value: unknown, message: string) =>
    errors.push(fieldError.invalid(where, value, message));
  if (!Object.hasOwn(scopes, scope)) refuse(selectorAt.child('scopeName'), scope, 'unsupported scope');
  if (!applies(scope)) refuse(selectorAt, spec['scopeSelector'], 'unsupported scope applied to resource');
  if (withoutValue.includes(scope) && operator !== 'Exists') {
    const names = 'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort';
    const message = `must be 'Exist' when scope is any of ${names}, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`;
    refuse(selectorAt.child('operator'), operator, message);
  }
  if (operator === 'In' || operator === 'NotIn') {
    const message = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(fieldError.required(selectorAt.child('values'), message));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const message = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) refuse(selectorAt.child('values'), values, message);
  } else refuse(selectorAt.child('operator'), operator, 'not a valid selector operator');
  return errors;
}

/** What is counted stays what it was; how much of it there may be can change. */
export function validateQuotaUpdate(quota: KubeObject, old: KubeObject): FieldError[] {
  const spec = asFields(quota['spec']);
  const before = asFields(old['spec']);
  const errors = validateQuota(quota);
  const sorted = (list: unknown) => [...new Set(asTexts(list))].sort();
  if (!deepEqual(sorted(spec['scopes']), sorted(before['scopes']))) {
    errors.push(fieldError.invalid(at.child('scopes'), spec['scopes'] ?? null, 'field is immutable'));
  }
  const expressions = (it: Fields) => asItems(asFields(it['scopeSelector'])['matchExpressions']);
  const isOther = isSet(spec['scopeSelector']) !== isSet(before['scopeSelector']);
  if (isOther || !deepEqual(expressions(spec), expressions(before))) {
    const where = at.child('scopeSelector');
    errors.push(fieldError.invalid(where, spec['scopeSelector'] ?? null, 'field is immutable'));
  }
  return errors;
}

export function validateQuotaStatus(quota: KubeObject): FieldError[] {
  const status = asFields(quota['status']);
  return ['hard', 'used'].flatMap((field) => validateAmounts(status[field], path('status').child(field)));
}
