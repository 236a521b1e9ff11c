import { fieldError, type FieldError, type FieldPath } from '../machinery/field-error.js';
import { hasLineBreaks, oneOf, required } from '../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../machinery/fields.js';
import { findField } from './field-path.js';
import { hasGranularSet, type SchemaLeniency } from './leniency.js';
import { unsupported } from './structural.validation.js';

const listTypes = ['atomic', 'set', 'map'];
const mapTypes = ['atomic', 'granular'];
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Validates the `x-kubernetes-*` extensions of a schema: list types, map types and validation rules. */
export function validateExtensions(schema: Fields, at: FieldPath, leniency: SchemaLeniency): FieldError[] {
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  const rules = asItems(schema['x-kubernetes-validations']);
  const findsFields = rules.some((rule) => asText(rule['fieldPath']) !== '') && unsupported(schema) === undefined;
  return [
    ...(preserve === false
      ? [fieldError.invalid(at.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined')]
      : []),
    ...hasType(schema, 'x-kubernetes-map-type', 'object', at),
    ...oneOf(schema['x-kubernetes-map-type'], at.child('x-kubernetes-map-type'), mapTypes),
    ...hasType(schema, 'x-kubernetes-list-type', 'array', at),
    ...(leniency.granularSets ? [] : validateSet(schema, at)),
    ...oneOf(schema['x-kubernetes-list-type'], at.child('x-kubernetes-list-type'), listTypes),
    ...validateKeys(schema, at),
    ...(leniency.optionalKeys ? [] : validateItems(schema, at)),
    ...rules.flatMap((rule, index) =>
      validateRule(rule, findsFields ? schema : undefined, at.child('x-kubernetes-validations').index(index)),
    ),
  ];
}

function hasType(schema: Fields, extension: string, type: string, at: FieldPath): FieldError[] {
  const actual = asText(schema['type']);
  if (!isSet(schema[extension]) || actual === type) return [];
  const message = `must be ${type} if ${extension} is specified`;
  const where = at.child('type');
  return actual === '' ? required('', where, message) : [fieldError.invalid(where, actual, message)];
}

function validateSet(schema: Fields, at: FieldPath): FieldError[] {
  if (schema['type'] !== 'array' || !hasGranularSet(schema)) return [];
  const items = asFields(schema['items']);
  const extension = items['type'] === 'array' ? 'x-kubernetes-list-type' : 'x-kubernetes-map-type';
  const message = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const shown = items['x-kubernetes-list-type'] ?? null;
  return [fieldError.invalid(at.child('items', extension), shown, message)];
}

/** Keys of a list map must be scalar properties that are required or have a default. */
function validateKeys(schema: Fields, at: FieldPath): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  const keys = asTexts(schema['x-kubernetes-list-map-keys']);
  const typeAt = at.child('x-kubernetes-list-type');
  const keysAt = at.child('x-kubernetes-list-map-keys');
  const errors: FieldError[] = [];
  const mustBeMap = 'must be map if x-kubernetes-list-map-keys is non-empty';
  if (keys.length > 0 && !isSet(type)) errors.push(...required(undefined, typeAt, mustBeMap));
  else if (keys.length > 0 && type !== 'map') errors.push(fieldError.invalid(typeAt, type, mustBeMap));
  if (type !== 'map') return errors;
  if (keys.length === 0) {
    errors.push(...required(undefined, keysAt, 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (!isSet(schema['items'])) {
    return [
      ...errors,
      ...required(undefined, at.child('items'), 'must have a schema if x-kubernetes-list-type is map'),
    ];
  }
  if (Array.isArray(schema['items'])) {
    const message = 'must only have a single schema if x-kubernetes-list-type is map';
    return [...errors, fieldError.invalid(at.child('items'), schema['items'], message)];
  }
  const items = asFields(schema['items']);
  if (items['type'] !== 'object') {
    const message = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, fieldError.invalid(at.child('items', 'type'), asText(items['type']), message)];
  }
  const properties = asFields(items['properties']);
  const seen = new Set<string>();
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? asFields(properties[key]) : undefined;
    if (!property) errors.push(fieldError.invalid(keysAt, keys, 'entries must all be names of item properties'));
    else if (property['type'] === 'array' || property['type'] === 'object') {
      const where = at.child('items', 'properties').key(key).child('type');
      const message = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(fieldError.invalid(where, items['type'], message));
    }
    if (seen.has(key)) {
      errors.push(fieldError.invalid(keysAt, keys, 'must not contain duplicate entries'));
    }
    seen.add(key);
  }
  return errors;
}

function validateItems(schema: Fields, at: FieldPath): FieldError[] {
  const type = asText(schema['x-kubernetes-list-type']);
  const items = asFields(schema['items']);
  const where = at.child('items');
  const errors: FieldError[] = [];
  if (type !== 'set' && type !== 'map') return errors;
  if (items['nullable'] === true) {
    const message = `cannot be nullable when x-kubernetes-list-type is ${type}`;
    errors.push(fieldError.forbidden(where.child('nullable'), message));
  }
  if (type === 'set') return errors;
  const properties = asFields(items['properties']);
  const always = asTexts(items['required']);
  const isKey = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of asTexts(schema['x-kubernetes-list-map-keys'])) {
    if (!Object.hasOwn(properties, key)) continue;
    const { default: byDefault, nullable } = asFields(properties[key]);
    const property = where.child('properties').key(key);
    if (!always.includes(key) && !isSet(byDefault)) {
      errors.push(
        ...required(undefined, property.child('default'), `${isKey} must have a default or be a required property`),
      );
    }
    if (nullable === true) {
      errors.push(fieldError.forbidden(property.child('nullable'), `${isKey} cannot be nullable`));
    }
  }
  return errors;
}

/** fieldPath is checked only if the schema is given. */
function validateRule(rule: Fields, schema: Fields | undefined, at: FieldPath): FieldError[] {
  const text = (field: string) => asText(rule[field]);
  const errors: FieldError[] = [];
  const invalid = (field: string, message: string) =>
    errors.push(fieldError.invalid(at.child(field), rule[field], message));
  const missing = (field: string, message: string) => errors.push(...required('', at.child(field), message));
  const message = text('message').trim();
  if (text('rule').trim() === '') missing('rule', 'rule is not specified');
  else if (text('message') !== '' && message === '') invalid('message', 'must be non-empty if specified');
  else if (hasLineBreaks(message)) invalid('message', 'must not contain line breaks');
  else if (hasLineBreaks(text('rule').trim()) && message === '') {
    missing('message', 'message must be specified if rule contains line breaks');
  }
  if (text('messageExpression') !== '' && text('messageExpression').trim() === '') {
    missing('messageExpression', 'messageExpression must be non-empty if specified');
  }
  errors.push(...oneOf(rule['reason'], at.child('reason'), reasons));
  const path = text('fieldPath');
  if (path !== '' && path.trim() === '') invalid('fieldPath', 'must be non-empty if specified');
  if (hasLineBreaks(path)) invalid('fieldPath', 'must not contain line breaks');
  if (path !== '' && schema && 'problem' in findField(path, schema)) {
    invalid('fieldPath', 'must be a valid path');
  }
  return errors;
}
