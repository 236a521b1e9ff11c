import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { validateCIdentifier, validateDnsSubdomain } from '../../machinery/names.js';
import { validateDriverName } from '../storage/parameters.validation.js';

const identifierLengthMax = 32;
const poolNameLengthMax = 253;

/** `name`, or `example.com/name` where the name is not the driver's own. */
export function validateAttributeName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at, 'name required');
  const [first = '', second, ...rest] = name.split('/');
  if (rest.length > 0) {
    return [fieldError.invalid(String(at), name, 'must be a name or a domain and a name separated by a slash')];
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
  return [fieldError.invalid(String(at), name, message)];
}

function validateIdentifier(name: string, at: FieldPath): FieldError[] {
  return [
    ...(name.length > identifierLengthMax ? [fieldError.tooLong(String(at), identifierLengthMax)] : []),
    ...checked(name, at, validateCIdentifier),
  ];
}

/** Names with slashes between them. */
export function validatePoolName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  return [
    ...(name.length > poolNameLengthMax ? [fieldError.tooLong(String(at), poolNameLengthMax)] : []),
    ...name.split('/').flatMap((part) => checked(part, at, validateDnsSubdomain)),
  ];
}
