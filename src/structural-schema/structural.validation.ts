import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from '../machinery/field-error.js';
import { required } from '../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../machinery/fields.js';
import { Pattern } from '../regex/pattern.js';
import { everySchema, isUsed } from './walk.js';

/**
 * A structural schema declares the type of every field outside of allOf, anyOf, oneOf and not, which only narrow
 * values. So the type of each field is known without looking at a value, which can be pruned, defaulted and merged.
 */
type Level = 'root' | 'item' | 'field';

export function validateStructure(schema: Fields, at: FieldPath): FieldError[] {
  const errors = [...validateLevel(schema, 'root', at), ...validateComplete(schema, schema, at, at)];
  const key = ({ field, detail }: FieldError) => `${field}: ${detail}`;
  return errors.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Returns the message for a schema that uses JSON schema fields without a structure, such as $ref. */
export function unsupported(schema: Fields): string | undefined {
  for (const inner of everySchema(schema)) {
    for (const field of [
      'id',
      '$schema',
      '$ref',
      'patternProperties',
      'dependencies',
      'additionalItems',
      'definitions',
    ]) {
      if (isUsed(inner[field])) return `OpenAPIV3Schema '${field.replace('$schema', 'schema')}' is not supported`;
    }
    if (Array.isArray(inner['items'])) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
    if (inner['x-kubernetes-preserve-unknown-fields'] === false) {
      return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    }
  }
  return undefined;
}

const emptyType: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateLevel(schema: Fields, level: Level, at: FieldPath): FieldError[] {
  const type = asText(schema['type']);
  const properties = asFields(schema['properties']);
  const additional = schema['additionalProperties'];
  const errors: FieldError[] = [];
  if (type === 'array' && !isSet(schema['items'])) {
    errors.push(...required(undefined, at.child('items'), 'must be specified'));
  }
  if (isSet(schema['items'])) errors.push(...validateLevel(asFields(schema['items']), 'item', at.child('items')));
  for (const [name, property] of Object.entries(properties)) {
    errors.push(...validateLevel(asFields(property), 'field', at.child('properties').key(name)));
  }
  if (isSet(additional) && level === 'root') {
    errors.push(fieldError.forbidden(at.child('additionalProperties'), 'must not be used at the root'));
  }
  if (typeof additional === 'object' && additional !== null) {
    errors.push(...validateLevel(asFields(additional), 'field', at.child('additionalProperties')));
  }
  return [
    ...errors,
    ...validateIntOrString(schema, at),
    ...validateNarrowing(
      schema,
      at,
      isIntOrString(schema['anyOf']),
      isIntOrString(asItems(schema['allOf'])[0]?.['anyOf']),
    ),
    ...validateType(schema, level, at),
    ...validateMeta(schema, properties, level, at),
  ];
}

function validateIntOrString(schema: Fields, at: FieldPath): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  return ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']
    .filter((field) => schema[field] === true)
    .map((field) => {
      const message = 'must be false if x-kubernetes-int-or-string is true';
      return fieldError.invalid(at.child(field), true, message);
    });
}

function validateType(schema: Fields, level: Level, at: FieldPath): FieldError[] {
  const type = asText(schema['type']);
  const where = at.child('type');
  const errors: FieldError[] = [];
  const mayLack =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const message = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(...(type === '' ? required('', where, message) : [fieldError.invalid(where, type, message)]));
  } else if (type === '' && !mayLack) errors.push(...required('', where, emptyType[level]));
  if (schema['x-kubernetes-embedded-resource'] === true && isSet(schema['additionalProperties'])) {
    const message = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(fieldError.forbidden(at.child('additionalProperties'), message));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(fieldError.invalid(where, type, 'must be object at the root'));
  }
  return errors;
}

/** A schema may restrict nothing of metadata but name and generateName. */
function validateMeta(schema: Fields, properties: Fields, level: Level, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isObject = level === 'root' || isEmbedded;
  const typeOf = (name: string) => asText(asFields(properties[name])['type']);
  const mustBe = (name: string, type: string) => {
    if (!isObject || !Object.hasOwn(properties, name) || typeOf(name) === type) return;
    const where = at.child('properties').key(name).child('type');
    errors.push(fieldError.invalid(where, typeOf(name), `must be ${type}`));
  };
  mustBe('kind', 'string');
  mustBe('apiVersion', 'string');
  mustBe('metadata', 'object');
  if (level === 'root' && Object.hasOwn(properties, 'metadata') && !isBareMetadata(asFields(properties['metadata']))) {
    const message = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(fieldError.forbidden(at.child('properties').key('metadata'), message));
  }
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isEmbedded && !keepsUnknown && Object.keys(properties).length === 0) {
    const message =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(...required(undefined, at.child('properties'), message));
  }
  return errors;
}

function isBareMetadata({ type: _type, default: _default, properties, ...rest }: Fields): boolean {
  const names = Object.keys(asFields(properties));
  return (
    names.every((name) => name === 'name' || name === 'generateName') && Object.values(rest).every((it) => !isSet(it))
  );
}

function isIntOrString(alternatives: unknown): boolean {
  return deepEqual(alternatives, [{ type: 'integer' }, { type: 'string' }]);
}

/** Accepts the two usual anyOf and allOf forms of int-or-string. */
function validateNarrowing(schema: Fields, at: FieldPath, skipsAnyOf: boolean, skipsFirstAllOf: boolean): FieldError[] {
  const errors = [
    ...(skipsAnyOf ? [] : nestedList(schema, 'anyOf', at)),
    ...asItems(schema['allOf']).flatMap((clause, index) =>
      validateNested(clause, at.child('allOf').index(index), skipsFirstAllOf && index === 0),
    ),
    ...nestedList(schema, 'oneOf', at),
    ...(isSet(schema['not']) ? validateNested(asFields(schema['not']), at.child('not'), false) : []),
  ];
  const pattern = asText(schema['pattern']);
  const problem = pattern === '' ? undefined : Pattern.of(pattern).problem;
  if (problem !== undefined) {
    const message = `must be a valid regular expression, but isn't: ${problem}`;
    errors.push(fieldError.invalid(at.child('pattern'), pattern, message));
  }
  return errors;
}

function nestedList(schema: Fields, field: string, at: FieldPath): FieldError[] {
  return asItems(schema[field]).flatMap((clause, index) => validateNested(clause, at.child(field).index(index), false));
}

/** Fields that must not be set inside allOf, anyOf, oneOf and not. */
const structuralFields: readonly (readonly [field: string, message: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function validateNested(schema: Fields, at: FieldPath, skipsAnyOf: boolean): FieldError[] {
  const properties = Object.entries(asFields(schema['properties']));
  return [
    ...validateNarrowing(schema, at, skipsAnyOf, false),
    ...(isSet(schema['items']) ? validateNested(asFields(schema['items']), at.child('items'), false) : []),
    ...properties.flatMap(([name, property]) =>
      validateNested(asFields(property), at.child('properties').key(name), false),
    ),
    ...structuralFields
      .filter(([field]) => isSet(schema[field]) && schema[field] !== false && schema[field] !== '')
      .map(([field, message]) => fieldError.forbidden(at.child(field), message)),
    ...(properties.some(([name]) => name === 'metadata')
      ? [fieldError.forbidden(at.child('properties').key('metadata'), 'must not be specified in a nested context')]
      : []),
  ];
}

/**
 * Requires that fields in allOf, anyOf, oneOf and not are also defined outside: `defined` is the structural schema at
 * the same path.
 */
function validateComplete(
  clause: Fields,
  defined: Fields | undefined,
  at: FieldPath,
  definedIn: FieldPath,
): FieldError[] {
  const clauses = [
    ...(isSet(clause['not']) ? [[asFields(clause['not']), definedIn.child('not')] as const] : []),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((field) =>
      asItems(clause[field]).map((inner, index) => [inner, definedIn.child(field).index(index)] as const),
    ),
  ];
  return clauses.flatMap(([inner, where]) => validateDefined(inner, defined, at, where));
}

function validateDefined(
  clause: Fields,
  defined: Fields | undefined,
  at: FieldPath,
  definedIn: FieldPath,
): FieldError[] {
  if (!defined) return required(undefined, at, `because it is defined in ${String(definedIn)}`);
  const properties = asFields(defined['properties']);
  return [
    ...validateComplete(clause, defined, at, definedIn),
    ...(isSet(clause['items'])
      ? validateDefined(
          asFields(clause['items']),
          isSet(defined['items']) ? asFields(defined['items']) : undefined,
          at.child('items'),
          definedIn.child('items'),
        )
      : []),
    ...Object.entries(asFields(clause['properties'])).flatMap(([name, inner]) =>
      validateDefined(
        asFields(inner),
        Object.hasOwn(properties, name) ? asFields(properties[name]) : undefined,
        at.child('properties').key(name),
        definedIn.child('properties').key(name),
      ),
    ),
  ];
}
