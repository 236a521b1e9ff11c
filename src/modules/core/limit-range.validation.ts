import type { LimitRange, LimitRangeItem } from '../../catalog/types/core.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
import { amountOf, amountRatio, compareAmounts, sameAmount } from './pod/pod-resources.js';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from './pod/resource-names.js';

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];
const bounds = ['max', 'min', 'maxLimitRequestRatio'] as const;
const defaults = ['default', 'defaultRequest'] as const;

/** Validates in steps, since a limit may have many resource names, each with several amounts to compare. */
export function* validateLimitRange({ spec }: LimitRange): Steps<FieldError[]> {
  const at = path('spec').child('limits');
  const limits = spec?.limits ?? [];
  const errors: FieldError[] = [];
  let checks = 0;
  const isStepOver = () => ++checks % checksPerStep === 0;
  for (const [index, limit] of limits.entries()) {
    for (const error of yield* validateLimit(limit, at.index(index), isStepOver)) errors.push(error);
    if (isStepOver()) yield;
  }
  return [
    ...errors,
    ...duplicates(
      limits,
      ({ type = '' }) => type,
      (index) => at.index(index).child('type'),
    ),
  ];
}

/** Limits, names of resources, and comparisons of their amounts. */
const checksPerStep = 1_000;

function* validateLimit(limit: LimitRangeItem, at: FieldPath, isStepOver: () => boolean): Steps<FieldError[]> {
  const { type = '' } = limit;
  const errors = validateType(type, at.child('type'));
  const rule = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
  const names = new Set<string>();
  for (const field of type === 'Pod' ? bounds : [...bounds, ...defaults]) {
    for (const name of Object.keys(limit[field] ?? {})) {
      names.add(name);
      errors.push(...rule(name, at.child(field).key(name)));
      if (isStepOver()) yield;
    }
  }
  if (type === 'Pod') {
    for (const field of defaults) {
      if (Object.keys(limit[field] ?? {}).length === 0) continue;
      errors.push(fieldError.forbidden(at.child(field), "may not be specified when `type` is 'Pod'"));
    }
  }
  const hasStorage = limit.max?.['storage'] !== undefined || limit.min?.['storage'] !== undefined;
  if (type === 'PersistentVolumeClaim' && !hasStorage) {
    const message = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(fieldError.required(at.child('limits'), message));
  }
  for (const name of names) {
    errors.push(...validateOrder(limit, name, at));
    if (isStepOver()) yield;
  }
  return errors;
}

function validateType(type: string, at: FieldPath): FieldError[] {
  const problems = validateQualifiedName(type);
  if (problems.length === 0 && !type.includes('/') && !types.includes(type)) {
    problems.push('must be a standard limit type or fully qualified');
  }
  return problems.map((problem) => fieldError.invalid(at, type, problem));
}

type Amount = string | undefined;

/** Requires min ≤ defaultRequest ≤ default ≤ max, for each pair of which both are set. */
function validateOrder(limit: LimitRangeItem, name: string, at: FieldPath): FieldError[] {
  const min = amountOf(limit.min, name);
  const max = amountOf(limit.max, name);
  const normal = amountOf(limit.default, name);
  const request = amountOf(limit.defaultRequest, name);
  const ratio = amountOf(limit.maxLimitRequestRatio, name);
  const errors: FieldError[] = [];
  const check = (
    low: Amount,
    high: Amount,
    field: 'min' | 'default' | 'defaultRequest',
    shown: Amount,
    [less, more]: readonly [string, string],
  ) => {
    if (low === undefined || high === undefined || compareAmounts(low, high) <= 0) return;
    const message = `${less} value ${low} is greater than ${more} value ${high}`;
    errors.push(fieldError.invalid(at.child(field).key(name), shown, message));
  };
  check(min, max, 'min', min, ['min', 'max']);
  check(min, request, 'defaultRequest', request, ['min', 'default request']);
  check(request, max, 'defaultRequest', request, ['default request', 'max']);
  check(request, normal, 'defaultRequest', request, ['default request', 'default limit']);
  check(min, normal, 'default', min, ['min', 'default']);
  check(normal, max, 'default', max, ['default', 'max']);
  errors.push(...validateRatio(ratio, min, max, at.child('maxLimitRequestRatio').key(name)));
  if (!isOvercommitAllowed(name) && normal !== undefined && request !== undefined && !sameAmount(normal, request)) {
    const message = `default value ${normal} must equal to defaultRequest value ${request} in ${limit.type ?? ''}`;
    errors.push(fieldError.invalid(at.child('defaultRequest').key(name), request, message));
  }
  return errors;
}

function validateRatio(ratio: Amount, min: Amount, max: Amount, at: FieldPath): FieldError[] {
  if (ratio === undefined) return [];
  if (compareAmounts(ratio, '1') < 0) {
    return [fieldError.invalid(at, ratio, `ratio ${ratio} is less than 1`)];
  }
  if (min === undefined || max === undefined) return [];
  const most = amountRatio(max, min);
  if (amountRatio(ratio, '1') <= most) return [];
  return [fieldError.invalid(at, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`)];
}
