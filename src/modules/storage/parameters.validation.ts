import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asTextMap } from '../../machinery/fields.js';
import { validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';

const parametersMax = 512;
const parametersBytesMax = 256 * 1024;

/** Settings that only the driver understands. */
export function validateParameters(parameters: unknown, at: FieldPath): FieldError[] {
  const entries = asTextMap(parameters);
  if (entries.length > parametersMax) return [fieldError.tooLong(at, parametersMax)];
  const errors = entries
    .filter(([key]) => key === '')
    .map(([key]) => fieldError.invalid(at, key, 'field can not be empty.'));
  return [...errors, ...validateMapSize(parameters, at)];
}

export function validateMapSize(map: unknown, at: FieldPath): FieldError[] {
  const bytes = asTextMap(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return bytes > parametersBytesMax ? [fieldError.tooLong(at, parametersBytesMax)] : [];
}

/** Letters of both cases are the same in the name of a provisioner. */
export function validateProvisioner(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  return validateQualifiedName(name.toLowerCase()).map((message) => fieldError.invalid(at, name, message));
}

const driverNameMax = 63;

export function validateDriverName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  return [
    ...(name.length > driverNameMax ? [fieldError.tooLong(at, driverNameMax)] : []),
    ...checked(name, at, (text) => validateDnsSubdomain(text.toLowerCase())),
  ];
}
