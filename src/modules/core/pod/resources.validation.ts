import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { duplicates } from '../../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../../machinery/fields.js';
import { compareAmounts, isNegative, isWhole, isWholeMultiple, sameAmount } from './pod-resources.js';
import { isHugePages, mayExceed, validateContainerResourceName } from './resource-names.js';

export function validateContainerResources(
  resources: Fields,
  at: FieldPath,
  claims: ReadonlySet<string>,
): FieldError[] {
  return [
    ...validateAmounts(resources, at, validateContainerResourceName),
    ...validateClaims(resources['claims'], at.child('claims'), claims),
  ];
}

export function validatePodResources(resources: Fields, at: FieldPath): FieldError[] {
  const supported = ['cpu', 'hugepages-', 'memory'];
  return validateAmounts(resources, at, (name, nameAt) =>
    name === 'cpu' || name === 'memory' || isHugePages(name)
      ? []
      : [fieldError.notSupported(String(nameAt), name, supported)],
  );
}

type NameRule = (name: string, at: FieldPath) => FieldError[];

function validateAmounts(resources: Fields, at: FieldPath, validateName: NameRule): FieldError[] {
  const limits = asFields(resources['limits']);
  const requests = asFields(resources['requests']);
  const limitsAt = at.child('limits');
  const requestsAt = at.child('requests');
  const errors: FieldError[] = [];
  for (const [name, limit] of Object.entries(limits))
    errors.push(...validateAmount(name, limit, limitsAt.key(name), validateName));
  for (const [name, request] of Object.entries(requests)) {
    errors.push(...validateAmount(name, request, requestsAt.key(name), validateName));
    const limit = limits[name];
    if (!isSet(limit)) {
      if (!mayExceed(name)) {
        errors.push(fieldError.required(String(limitsAt), 'Limit must be set for non overcommitable resources'));
      }
    } else if (!mayExceed(name) && !sameAmount(request, limit)) {
      errors.push(
        fieldError.invalid(String(requestsAt), request, `must be equal to ${name} limit of ${String(limit)}`),
      );
    } else if (compareAmounts(request, limit) > 0) {
      const message = `must be less than or equal to ${name} limit of ${String(limit)}`;
      errors.push(fieldError.invalid(String(requestsAt), request, message));
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(fieldError.forbidden(String(at), 'HugePages require cpu or memory'));
  }
  return errors;
}

function validateAmount(name: string, amount: unknown, at: FieldPath, validateName: NameRule): FieldError[] {
  const errors = validateName(name, at);
  const refuse = (message: string) => errors.push(fieldError.invalid(String(at), amount, message));
  if (isNegative(amount)) refuse('must be greater than or equal to 0');
  if (name.includes('/') && !isWhole(amount)) refuse('must be an integer');
  if (isHugePages(name) && !isWholeMultiple(amount, name.slice('hugepages-'.length))) {
    refuse(`${String(amount)} is not positive integer multiple of ${name}`);
  }
  return errors;
}

function validateClaims(claims: unknown, at: FieldPath, declared: ReadonlySet<string>): FieldError[] {
  const list = asItems(claims);
  const known = declared.size === 0 ? 'which is empty' : [...declared].map((name) => `"${name}"`).join(', ');
  return [
    ...list.flatMap((claim, index) => {
      const name = asText(claim['name']);
      if (name === '') return [fieldError.required(String(at.index(index)))];
      if (declared.has(name)) return [];
      const missing = fieldError.notFound(String(at.index(index)), name);
      return [
        { ...missing, detail: `${missing.detail}: must be one of the names in pod.spec.resourceClaims ${known}` },
      ];
    }),
    ...duplicates(
      list,
      (claim) => [asText(claim['name']), asText(claim['request'])].filter((part) => part !== '').join('/'),
      (index) => at.index(index),
    ),
  ];
}
