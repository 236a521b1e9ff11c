import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';
import { hasFormat } from './formats.js';

/**
 * Whether a value is what a schema asks for, in the words of the validator that clients of custom kinds know. Paths
 * are of the field; the words of a rule name the place `in body` as well. Patterns are not matched here: that takes an
 * engine whose time is bounded.
 */
export function validateValue(value: unknown, schema: Fields, at: FieldPath, name = ''): FieldError[] {
  const place = `${name} in body`;
  if (value === null && schema['nullable'] === true) return [];
  const wrong = wrongType(value, schema);
  if (wrong !== undefined) {
    return [
      fieldError.typeInvalid(String(at), wrong.actual, `${place} must be of type ${wrong.wanted}: "${wrong.actual}"`),
    ];
  }
  return [
    ...validateEnum(value, schema, at),
    ...(typeof value === 'string' ? validateText(value, schema, at, place) : []),
    ...(typeof value === 'number' ? validateNumber(value, schema, at, place) : []),
    ...(Array.isArray(value) ? validateList(value, schema, at, name, place) : []),
    ...(isObject(value) ? validateObject(value, schema, at, name, place) : []),
    ...validateAlternatives(value, schema, at, name),
  ];
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function wrongType(value: unknown, schema: Fields): { actual: string; wanted: string } | undefined {
  const actual = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return actual === 'integer' || actual === 'string' ? undefined : { actual, wanted: 'integer,string' };
  }
  const wanted = asText(schema['type']);
  if (wanted === '' || wanted === actual || (wanted === 'number' && actual === 'integer')) return undefined;
  return { actual, wanted };
}

function validateEnum(value: unknown, schema: Fields, at: FieldPath): FieldError[] {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.length === 0 || values.some((one) => deepEqual(one, value))) return [];
  return [
    fieldError.notSupported(
      String(at),
      value,
      values.map((one) => (typeof one === 'string' ? one : String(one))),
    ),
  ];
}

function validateText(value: string, schema: Fields, at: FieldPath, place: string): FieldError[] {
  const { minLength, maxLength } = schema;
  const errors: FieldError[] = [];
  const invalid = (message: string) => errors.push(fieldError.invalid(String(at), value, `${place} ${message}`));
  const length = [...value].length;
  if (typeof maxLength === 'number' && length > maxLength) errors.push(fieldError.tooLong(String(at), maxLength));
  if (typeof minLength === 'number' && length < minLength) invalid(`should be at least ${minLength} chars long`);
  const format = asText(schema['format']);
  if (format !== '' && !hasFormat(value, format)) invalid(`must be of type ${format}: "${value}"`);
  return errors;
}

function validateNumber(value: number, schema: Fields, at: FieldPath, place: string): FieldError[] {
  const { maximum, minimum, multipleOf } = schema;
  const errors: FieldError[] = [];
  const invalid = (message: string) => errors.push(fieldError.invalid(String(at), value, `${place} ${message}`));
  if (typeof maximum === 'number' && schema['exclusiveMaximum'] === true && value >= maximum) {
    invalid(`should be less than ${maximum}`);
  } else if (typeof maximum === 'number' && value > maximum) invalid(`should be less than or equal to ${maximum}`);
  if (typeof minimum === 'number' && schema['exclusiveMinimum'] === true && value <= minimum) {
    invalid(`should be greater than ${minimum}`);
  } else if (typeof minimum === 'number' && value < minimum) invalid(`should be greater than or equal to ${minimum}`);
  if (typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf)) {
    invalid(`should be a multiple of ${multipleOf}`);
  }
  return errors;
}

function validateList(
  value: readonly unknown[],
  schema: Fields,
  at: FieldPath,
  name: string,
  place: string,
): FieldError[] {
  const { minItems, maxItems, items } = schema;
  const errors: FieldError[] = [];
  if (typeof maxItems === 'number' && value.length > maxItems) {
    errors.push(fieldError.tooMany(String(at), value.length, maxItems));
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    errors.push(fieldError.invalid(String(at), value, `${place} should have at least ${minItems} items`));
  }
  if (!isObject(items)) return errors;
  return [
    ...errors,
    ...value.flatMap((item, index) => validateValue(item, items, at.index(index), `${name}[${index}]`)),
  ];
}

function validateObject(value: Fields, schema: Fields, at: FieldPath, name: string, place: string): FieldError[] {
  const { minProperties, maxProperties, additionalProperties } = schema;
  const properties = asFields(schema['properties']);
  const fields = Object.keys(value);
  const errors: FieldError[] = [];
  if (typeof maxProperties === 'number' && fields.length > maxProperties) {
    errors.push(fieldError.tooMany(String(at), fields.length, maxProperties));
  }
  if (typeof minProperties === 'number' && fields.length < minProperties) {
    errors.push(fieldError.invalid(String(at), value, `${place} should have at least ${minProperties} properties`));
  }
  for (const field of asTexts(schema['required'])) {
    if (!Object.hasOwn(value, field)) errors.push(fieldError.required(String(at.child(field))));
  }
  for (const [field, inner] of Object.entries(value)) {
    const isKnown = Object.hasOwn(properties, field);
    const known = isKnown ? properties[field] : additionalProperties;
    if (!isObject(known)) continue;
    errors.push(...validateValue(inner, known, at.child(field), name === '' ? field : `${name}.${field}`));
  }
  return errors;
}

function validateAlternatives(value: unknown, schema: Fields, at: FieldPath, name: string): FieldError[] {
  const meets = (clause: Fields) => validateValue(value, clause, at, name).length === 0;
  const invalid = (message: string) => [fieldError.invalid(String(at), value, `"${name}" ${message}`)];
  const [all, any, one] = [asItems(schema['allOf']), asItems(schema['anyOf']), asItems(schema['oneOf'])];
  const errors: FieldError[] = [];
  if (all.length > 0 && !all.every(meets)) errors.push(...invalid('must validate all the schemas (allOf)'));
  if (any.length > 0 && !any.some(meets)) errors.push(...invalid('must validate at least one schema (anyOf)'));
  const met = one.filter(meets).length;
  if (one.length > 0 && met !== 1) {
    const found = met === 0 ? 'Found none valid' : `Found ${met} valid alternatives`;
    errors.push(...invalid(`must validate one and only one schema (oneOf). ${found}`));
  }
  if (isSet(schema['not']) && meets(asFields(schema['not'])))
    errors.push(...invalid('must not validate the schema (not)'));
  return errors;
}
