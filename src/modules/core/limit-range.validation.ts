import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateQualifiedName } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
import { amountRatio, compareAmounts, sameAmount } from './pod/pod-resources.js';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from './pod/resource-names.js';

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];
const bounds = ['max', 'min', 'maxLimitRequestRatio'];
const defaults = ['default', 'defaultRequest'];

/** In steps: each resource name of a limit has several amounts, which are compared with each other. */
export function* validateLimitRange(range: KubeObject): Steps<FieldError[]> {
  const at = path('spec').child('limits');
  const { limits } = asFields(range['spec']);
  const errors: FieldError[] = [];
  for (const [index, limit] of asItems(limits).entries()) {
    for (const error of yield* validateLimit(limit, at.index(index))) errors.push(error);
  }
  return [
    ...errors,
    ...duplicates(
      asItems(limits),
      (limit) => asText(limit['type']),
      (index) => at.index(index).child('type'),
    ),
  ];
}

const namesPerStep = 1_000;

function* validateLimit(limit: Fields, at: FieldPath): Steps<FieldError[]> {
  const type = asText(limit['type']);
  const errors = validateType(type, at.child('type'));
  const rule = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
  const names = new Set<string>();
  for (const field of type === 'Pod' ? bounds : [...bounds, ...defaults]) {
    for (const name of Object.keys(asFields(limit[field]))) {
      names.add(name);
      errors.push(...rule(name, at.child(field).key(name)));
      if (names.size % namesPerStep === 0) yield;
    }
  }
  if (type === 'Pod') {
    for (const field of defaults) {
      if (Object.keys(asFields(limit[field])).length === 0) continue;
      errors.push(fieldError.forbidden(at.child(field), "may not be specified when `type` is 'Pod'"));
    }
  }
  if (
    type === 'PersistentVolumeClaim' &&
    !bounds.slice(0, 2).some((field) => isSet(asFields(limit[field])['storage']))
  ) {
    const message = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(fieldError.required(at.child('limits'), message));
  }
  let compared = 0;
  for (const name of names) {
    errors.push(...validateOrder(limit, name, at));
    if (++compared % namesPerStep === 0) yield;
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

/** min ≤ defaultRequest ≤ default ≤ max, each pair where both are given. */
function validateOrder(limit: Fields, name: string, at: FieldPath): FieldError[] {
  const amount = (field: string) => asFields(limit[field])[name];
  const [min, max, normal, request] = ['min', 'max', 'default', 'defaultRequest'].map(amount);
  const errors: FieldError[] = [];
  const check = (
    low: unknown,
    high: unknown,
    field: string,
    shown: unknown,
    [less, more]: readonly [string, string],
  ) => {
    if (!isSet(low) || !isSet(high) || compareAmounts(low, high) <= 0) return;
    const message = `${less} value ${String(low)} is greater than ${more} value ${String(high)}`;
    errors.push(fieldError.invalid(at.child(field).key(name), shown, message));
  };
  check(min, max, 'min', min, ['min', 'max']);
  check(min, request, 'defaultRequest', request, ['min', 'default request']);
  check(request, max, 'defaultRequest', request, ['default request', 'max']);
  check(request, normal, 'defaultRequest', request, ['default request', 'default limit']);
  check(min, normal, 'default', min, ['min', 'default']);
  check(normal, max, 'default', max, ['default', 'max']);
  errors.push(...validateRatio(amount('maxLimitRequestRatio'), min, max, at.child('maxLimitRequestRatio').key(name)));
  if (!isOvercommitAllowed(name) && isSet(normal) && isSet(request) && !sameAmount(normal, request)) {
    const message = `default value ${String(normal)} must equal to defaultRequest value ${String(request)} in ${asText(limit['type'])}`;
    errors.push(fieldError.invalid(at.child('defaultRequest').key(name), request, message));
  }
  return errors;
}

function validateRatio(ratio: unknown, min: unknown, max: unknown, at: FieldPath): FieldError[] {
  if (!isSet(ratio)) return [];
  if (compareAmounts(ratio, '1') < 0) {
    return [fieldError.invalid(at, ratio, `ratio ${String(ratio)} is less than 1`)];
  }
  if (!isSet(min) || !isSet(max)) return [];
  const most = amountRatio(max, min);
  if (amountRatio(ratio, '1') <= most) return [];
  return [fieldError.invalid(at, ratio, `ratio ${String(ratio)} is greater than max/min = ${most.toFixed(6)}`)];
}
