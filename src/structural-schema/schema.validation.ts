import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from '../machinery/field-error.js';
import { asFields, asItems, asText, isSet, type Fields } from '../machinery/fields.js';
import { isJsonObject } from '../machinery/kube-object.js';
import type { Steps } from '../std/steps.js';
import { validateDefaults } from './default.validation.js';
import { validateExtensions } from './extension.validation.js';
import { validateDefaultRules } from './rules/default-rules.validation.js';
import { validateRules } from './rules/rules.validation.js';
import { schemaTypes, type SchemaLeniency } from './leniency.js';
import { unsupported, validateStructure } from './structural.validation.js';
import { isUsed } from './walk.js';

interface Options {
  /** The version has a status subresource, which restricts the fields of the root schema. */
  readonly isStatusApart: boolean;
  readonly leniency: SchemaLeniency;
}

/** Validates the schema of a version: OpenAPI v3 without unbounded parts, structural, and with valid defaults. */
export function* validateSchema(
  schema: Fields,
  at: FieldPath,
  { isStatusApart, leniency }: Options,
): Steps<FieldError[]> {
  const errors = isStatusApart ? validateRootWithStatus(schema, at) : [];
  if (schema['nullable'] === true) {
    errors.push(fieldError.forbidden(at.child('nullable'), 'nullable cannot be true at the root'));
  }
  const problem = unsupported(schema);
  yield;
  if (problem === undefined) {
    const structure = validateStructure(schema, at);
    yield;
    const ofDefaults = structure.length > 0 ? [] : validateDefaults(schema, at, leniency.unprunedDefaults);
    const isValid = structure.length + ofDefaults.length === 0;
    errors.push(...structure, ...ofDefaults, ...(isValid ? yield* validateDefaultRules(schema, at) : []));
  }
  yield;
  errors.push(...validateOpenApi(schema, at, { leniency, isRoot: true }));
  // Reported only if no other error names the unsupported field.
  if (errors.length === 0 && problem !== undefined) errors.push(fieldError.invalid(at, '', problem));
  yield;
  const ruleErrors = yield* validateRules(schema, at, {
    stored: leniency.expressions,
    allowsCosts: leniency.schemas.some((stored) => deepEqual(stored, schema)),
    schemaErrors: errors,
  });
  return [...errors, ...ruleErrors];
}

const rootFields: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};

function validateRootWithStatus(schema: Fields, at: FieldPath): FieldError[] {
  const type = asText(schema['type']);
  if (type !== '' && type !== 'object') {
    const message =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [fieldError.invalid(at.child('type'), type, message)];
  }
  const other = Object.entries(schema).some(([field, value]) => isSet(value) && !Object.hasOwn(rootFields, field));
  if (!other) return [];
  const names = Object.values(rootFields).join(' ');
  const message = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [fieldError.invalid(at, schema, message)];
}

/** Context from the schemas around this one. */
interface Surroundings {
  readonly leniency: SchemaLeniency;
  readonly isRoot?: boolean;
  /** True inside apiVersion, kind and metadata of an object. */
  readonly inMeta?: boolean;
  readonly noDefaults?: string;
}

const metaFields = ['metadata', 'kind', 'apiVersion'];

function validateOpenApi(schema: Fields, at: FieldPath, around: Surroundings): FieldError[] {
  const { isRoot: _root, ...inside } = around;
  const inner = (value: unknown, where: FieldPath, surroundings: Surroundings = inside) =>
    isJsonObject(value) ? validateOpenApi(value, where, surroundings) : [];
  const additional = schema['additionalProperties'];
  const properties = Object.entries(asFields(schema['properties']));
  const isObject = around.isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
  return [
    ...validateSupported(schema, at, around),
    ...(schema['uniqueItems'] === true
      ? [
          fieldError.forbidden(
            at.child('uniqueItems'),
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(isSet(additional) && additional !== true && properties.length > 0
      ? [
          fieldError.forbidden(
            at.child('additionalProperties'),
            'additionalProperties and properties are mutual exclusive',
          ),
        ]
      : []),
    ...inner(
      additional,
      at.child('additionalProperties'),
      around.inMeta ? { ...inside, noDefaults: 'inside additionalProperties applying to object metadata' } : inside,
    ),
    ...properties.flatMap(([name, property]) =>
      inner(property, at.child('properties').key(name), {
        ...inside,
        ...(isObject && metaFields.includes(name) && { inMeta: true }),
        ...(around.isRoot && metaFields.includes(name) && { noDefaults: `in top-level ${name}` }),
      }),
    ),
    ...inner(schema['not'], at.child('not')),
    ...['allOf', 'oneOf', 'anyOf'].flatMap((field) =>
      asItems(schema[field]).flatMap((item, index) => inner(item, at.child(field).index(index))),
    ),
    ...['definitions', 'dependencies'].flatMap((field) =>
      Object.entries(asFields(schema[field])).flatMap(([name, value]) => inner(value, at.child(field).key(name))),
    ),
    ...(Array.isArray(schema['items'])
      ? schema['items'].flatMap((item, index) => inner(item, at.child('items').index(index)))
      : inner(schema['items'], at.child('items'))),
    ...validateExtensions(schema, at, around.leniency),
  ];
}

/** JSON schema fields that custom resources do not support. */
const unsupportedFields = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

function validateSupported(schema: Fields, at: FieldPath, around: Surroundings): FieldError[] {
  const type = asText(schema['type']);
  const forbidden = (field: string, message: string) => fieldError.forbidden(at.child(field), message);
  const errors: FieldError[] = [];
  if (type !== '' && !around.leniency.unknownTypes && !schemaTypes.includes(type)) {
    errors.push(fieldError.notSupported(at.child('type'), type, schemaTypes));
  }
  if (schema['default'] !== undefined && around.noDefaults !== undefined) {
    errors.push(forbidden('default', `must not be set ${around.noDefaults}`));
  }
  for (const field of unsupportedFields) {
    if (isUsed(schema[field])) errors.push(forbidden(field, `${field} is not supported`));
  }
  if (type === 'null') {
    errors.push(forbidden('type', 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema['items']) && schema['items'].length > 0) {
    errors.push(forbidden('items', 'items must be a schema object and not an array'));
  }
  if (around.inMeta && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden('x-kubernetes-embedded-resource', 'must not be used inside of resource meta'));
  }
  return errors;
}
