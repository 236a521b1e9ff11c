import { counted, uncountedErrors } from '../machinery/error-budget.js';
import { fieldError, path, type FieldError, type FieldPath } from '../machinery/field-error.js';
import { asFields, isSet, type Fields } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { compileNode } from './compile-node.js';
import { pruned } from './prune.js';
import { validateValue } from './value.validation.js';

/**
 * Validates default values against their schemas. Defaults inside additionalProperties are not validated: existing
 * definitions have invalid ones.
 */
export function validateDefaults(schema: Fields, at: FieldPath, mayHaveUnknown: boolean): FieldError[] {
  return validateInside({ ...schema, 'x-kubernetes-embedded-resource': true }, at, mayHaveUnknown, false);
}

export function hasUnprunedDefault(schema: Fields): boolean {
  const errors = uncountedErrors(() => validateDefaults(schema, path(''), false));
  return errors.some(({ detail }) => detail.endsWith(unknownFields));
}

const unknownFields = 'must not have unknown fields';
const metaFields = ['apiVersion', 'kind', 'metadata'];

function validateInside(schema: Fields, at: FieldPath, mayHaveUnknown: boolean, inMeta: boolean): FieldError[] {
  const isObject = schema['x-kubernetes-embedded-resource'] === true;
  const inner = (value: unknown, where: FieldPath, meta: boolean) =>
    typeof value === 'object' && value !== null ? validateInside(asFields(value), where, mayHaveUnknown, meta) : [];
  return [
    ...(isSet(schema['default'])
      ? validateOne(schema, at.child('default'), mayHaveUnknown || (inMeta && !isObject))
      : []),
    ...inner(schema['items'], at.child('items'), inMeta && !isObject),
    ...Object.entries(asFields(schema['properties'])).flatMap(([name, property]) =>
      inner(property, at.child('properties').key(name), isObject ? metaFields.includes(name) : inMeta),
    ),
  ];
}

function validateOne(schema: Fields, at: FieldPath, mayHaveUnknown: boolean): FieldError[] {
  const value = schema['default'] as JsonValue;
  const { default: _default, ...withoutDefault } = schema;
  const node = compileNode(withoutDefault);
  const errors: FieldError[] = [];
  if (!mayHaveUnknown && pruned(value, node) !== value) {
    errors.push(fieldError.invalid(at, value, unknownFields));
  }
  return [...errors, ...validateValue(value, node, { at: String(at) }).map(counted)];
}
