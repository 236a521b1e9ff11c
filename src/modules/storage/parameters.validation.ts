import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';

const parametersMax = 512;
const parametersBytesMax = 256 * 1024;

type Parameters = Readonly<Record<string, string>>;

/** Validates the parameters of a class, which only the driver can interpret. */
export function validateParameters(parameters: Parameters = {}, at: FieldPath): FieldError[] {
  const names = Object.keys(parameters);
  if (names.length > parametersMax) return [fieldError.tooLong(at, parametersMax)];
  const errors = names.includes('') ? [fieldError.invalid(at, '', 'field can not be empty.')] : [];
  return [...errors, ...validateMapSize(parameters, at)];
}

/** Bounds the bytes of all keys and values. */
export function validateMapSize(map: Parameters = {}, at: FieldPath): FieldError[] {
  const bytes = Object.entries(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return bytes > parametersBytesMax ? [fieldError.tooLong(at, parametersBytesMax)] : [];
}

/** Accepts letters of both cases. */
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
