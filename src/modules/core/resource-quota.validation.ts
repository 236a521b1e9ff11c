import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isNegative, isWhole } from './pod/pod-resources.js';
import { isQuotaResource, integerResources, validateQuotaResourceName } from './pod/resource-names.js';

const at = path('spec');

const podCount = ['pods'];
const computeResources = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const claimResources = ['persistentvolumeclaims', 'requests.storage'];

/** The resources that a quota with a scope can limit. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  Terminating: [...podCount, ...computeResources],
  NotTerminating: [...podCount, ...computeResources],
  BestEffort: podCount,
  NotBestEffort: [...podCount, ...computeResources],
  PriorityClass: [...podCount, ...computeResources],
  CrossNamespacePodAffinity: [...podCount, ...computeResources],
  VolumeAttributesClass: claimResources,
};
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
/** Scopes without values: their operator must be Exists. */
const withoutValue = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

export function validateQuota({ spec = {} }: ResourceQuota): FieldError[] {
  return [...validateAmounts(spec.hard, at.child('hard')), ...validateScopes(spec), ...validateScopeSelector(spec)];
}

function validateAmounts(amounts: Readonly<Record<string, string>> = {}, amountsAt: FieldPath): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const amountAt = amountsAt.key(name);
    const errors = validateQuotaResourceName(name, amountAt);
    const refuse = (message: string) => errors.push(fieldError.invalid(amountAt, amount, message));
    if (isNegative(amount)) refuse('must be greater than or equal to 0');
    if (integerResources.has(name) && !isWhole(amount)) refuse('must be an integer');
    return errors;
  });
}

/** Returns a function that is true for scopes that apply to all resources in `hard`, and computes each scope once. */
function appliesTo({ hard = {} }: ResourceQuotaSpec): (scope: string) => boolean {
  const limited = Object.keys(hard).filter(isQuotaResource);
  const known = new Map<string, boolean>();
  return (scope) => {
    const resources = Object.hasOwn(scopes, scope) ? scopes[scope] : undefined;
    if (resources === undefined) return true;
    let applies = known.get(scope);
    if (applies === undefined) known.set(scope, (applies = limited.every((name) => resources.includes(name))));
    return applies;
  };
}

const haveConflict = (names: readonly string[]): boolean =>
  opposites.some((pair) => pair.every((scope) => names.includes(scope)));

function validateScopes(spec: ResourceQuotaSpec): FieldError[] {
  const { scopes: names = [] } = spec;
  const applies = appliesTo(spec);
  const refused = (message: string) => fieldError.invalid(at.child('scopes'), spec.scopes, message);
  return [
    ...names.flatMap((scope) => [
      ...(Object.hasOwn(scopes, scope) ? [] : [refused('unsupported scope')]),
      ...(applies(scope) ? [] : [refused('unsupported scope applied to resource')]),
    ]),
    ...(haveConflict(names) ? [refused('conflicting scopes')] : []),
  ];
}

function validateScopeSelector(spec: ResourceQuotaSpec): FieldError[] {
  const selectorAt = at.child('scopeSelector', 'matchExpressions');
  const { matchExpressions: expressions = [] } = spec.scopeSelector ?? {};
  const applies = appliesTo(spec);
  const errors = expressions.flatMap((expression) => validateScopeExpression(expression, spec, applies, selectorAt));
  if (haveConflict(expressions.map(({ scopeName = '' }) => scopeName))) {
    errors.push(fieldError.invalid(selectorAt, spec.scopeSelector, 'conflicting scopes'));
  }
  return errors;
}

/** Reports errors without the index of the expression, as kube-apiserver does. */
function validateScopeExpression(
  { scopeName: scope = '', operator = '', values = [] }: ScopedResourceSelectorRequirement,
  { scopeSelector }: ResourceQuotaSpec,
  applies: (scope: string) => boolean,
  selectorAt: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (errorAt: FieldPath, value: unknown, message: string) =>
    errors.push(fieldError.invalid(errorAt, value, message));
  if (!Object.hasOwn(scopes, scope)) refuse(selectorAt.child('scopeName'), scope, 'unsupported scope');
  if (!applies(scope)) refuse(selectorAt, scopeSelector, 'unsupported scope applied to resource');
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

/** Validates an update: scopes and scopeSelector are immutable. */
export function validateQuotaUpdate(quota: ResourceQuota, { spec: before = {} }: ResourceQuota): FieldError[] {
  const { spec = {} } = quota;
  const errors = validateQuota(quota);
  const sorted = (list: readonly string[] = []) => [...new Set(list)].sort();
  if (!deepEqual(sorted(spec.scopes), sorted(before.scopes))) {
    errors.push(fieldError.invalid(at.child('scopes'), spec.scopes ?? null, 'field is immutable'));
  }
  const expressionsOf = ({ scopeSelector }: ResourceQuotaSpec) => scopeSelector?.matchExpressions ?? [];
  const isAddedOrRemoved = (spec.scopeSelector === undefined) !== (before.scopeSelector === undefined);
  if (isAddedOrRemoved || !deepEqual(expressionsOf(spec), expressionsOf(before))) {
    errors.push(fieldError.invalid(at.child('scopeSelector'), spec.scopeSelector ?? null, 'field is immutable'));
  }
  return errors;
}

export function validateQuotaStatus({ status = {} }: ResourceQuota): FieldError[] {
  const statusAt = path('status');
  return [
    ...validateAmounts(status.hard, statusAt.child('hard')),
    ...validateAmounts(status.used, statusAt.child('used')),
  ];
}
