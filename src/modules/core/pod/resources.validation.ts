import type { ResourceClaim, ResourceRequirements } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { duplicates } from '../../../machinery/field-rules.js';
import { amountOf, compareAmounts, isNegative, isWhole, isWholeMultiple, sameAmount } from './pod-resources.js';
import { isHugePages, isOvercommitAllowed, validateContainerResourceName } from './resource-names.js';

/** `claimNames` are the names in spec.resourceClaims of the Pod. */
export function validateContainerResources(
  resources: ResourceRequirements,
  at: FieldPath,
  claimNames: ReadonlySet<string>,
): FieldError[] {
  return [
    ...validateAmounts(resources, at, validateContainerResourceName),
    ...validateClaims(resources.claims ?? [], at.child('claims'), claimNames),
  ];
}

export function validatePodResources(resources: ResourceRequirements, at: FieldPath): FieldError[] {
  const supported = ['cpu', 'hugepages-', 'memory'];
  return validateAmounts(resources, at, (name, nameAt) =>
    name === 'cpu' || name === 'memory' || isHugePages(name) ? [] : [fieldError.notSupported(nameAt, name, supported)],
  );
}

type NameRule = (name: string, at: FieldPath) => FieldError[];

function validateAmounts(
  { limits = {}, requests = {} }: ResourceRequirements,
  at: FieldPath,
  validateName: NameRule,
): FieldError[] {
  const limitsAt = at.child('limits');
  const requestsAt = at.child('requests');
  const errors: FieldError[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    errors.push(...validateAmount(name, limit, limitsAt.key(name), validateName));
  }
  for (const [name, request] of Object.entries(requests)) {
    errors.push(...validateAmount(name, request, requestsAt.key(name), validateName));
    const limit = amountOf(limits, name);
    if (limit === undefined) {
      if (!isOvercommitAllowed(name)) {
        errors.push(fieldError.required(limitsAt, 'Limit must be set for non overcommitable resources'));
      }
    } else if (!isOvercommitAllowed(name) && !sameAmount(request, limit)) {
      errors.push(fieldError.invalid(requestsAt, request, `must be equal to ${name} limit of ${limit}`));
    } else if (compareAmounts(request, limit) > 0) {
      errors.push(fieldError.invalid(requestsAt, request, `must be less than or equal to ${name} limit of ${limit}`));
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(fieldError.forbidden(at, 'HugePages require cpu or memory'));
  }
  return errors;
}

function validateAmount(name: string, amount: string, at: FieldPath, validateName: NameRule): FieldError[] {
  const errors = validateName(name, at);
  const refuse = (message: string) => errors.push(fieldError.invalid(at, amount, message));
  if (isNegative(amount)) refuse('must be greater than or equal to 0');
  if (name.includes('/') && !isWhole(amount)) refuse('must be an integer');
  if (isHugePages(name) && !isWholeMultiple(amount, name.slice('hugepages-'.length))) {
    refuse(`${amount} is not positive integer multiple of ${name}`);
  }
  return errors;
}

function validateClaims(claims: readonly ResourceClaim[], at: FieldPath, declared: ReadonlySet<string>): FieldError[] {
  const known = declared.size === 0 ? 'which is empty' : [...declared].map((name) => `"${name}"`).join(', ');
  return [
    ...claims.flatMap(({ name = '' }, index) => {
      const claimAt = at.index(index);
      if (name === '') return [fieldError.required(claimAt)];
      if (declared.has(name)) return [];
      const missing = fieldError.notFound(claimAt, name);
      return [
        { ...missing, detail: `${missing.detail}: must be one of the names in pod.spec.resourceClaims ${known}` },
      ];
    }),
    ...duplicates(
      claims,
      ({ name = '', request = '' }) => [name, request].filter((text) => text !== '').join('/'),
      (index) => at.index(index),
    ),
  ];
}
