import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { firstParts, validateCIdentifier, validateDnsSubdomain } from '../../machinery/names.js';
import { validateDriverName } from '../storage/parameters.validation.js';

const identifierLengthMax = 32;
const poolNameLengthMax = 253;

/** Validates `name`, for attributes that the driver defines, or `example.com/name`. */
export function validateAttributeName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at, 'name required');
  const [first = '', second, ...rest] = name.split('/', 3);
  if (rest.length > 0) {
    return [fieldError.invalid(at, name, 'must be a name or a domain and a name separated by a slash')];
  }
  if (second === undefined) return validateIdentifier(first, at);
  return [
    ...(first === '' ? required('', at, 'the domain must not be empty') : validateDriverName(first, at)),
    ...(second === '' ? required('', at, 'the name must not be empty') : validateIdentifier(second, at)),
  ];
}

export function validateFullAttributeName(name: string, at: FieldPath): FieldError[] {
  const errors = validateAttributeName(name, at);
  if (errors.length > 0 || name.includes('/')) return errors;
  const message = 'a fully qualified name must be a domain and a name separated by a slash';
  return [fieldError.invalid(at, name, message)];
}

function validateIdentifier(name: string, at: FieldPath): FieldError[] {
  return [
    ...(name.length > identifierLengthMax ? [fieldError.tooLong(at, identifierLengthMax)] : []),
    ...checked(name, at, validateCIdentifier),
  ];
}

/** Validates DNS subdomains that are separated by slashes. */
export function validatePoolName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  return [
    ...(name.length > poolNameLengthMax ? [fieldError.tooLong(at, poolNameLengthMax)] : []),
    ...firstParts(name, '/').flatMap((part) => checked(part, at, validateDnsSubdomain)),
  ];
}
