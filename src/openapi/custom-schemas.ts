import { asFields } from '../machinery/fields.js';
import { isJsonObject } from '../machinery/kube-object.js';
import type { Dialect, Schema } from './type-schemas.js';

/** Schemas of the fields that every object has, with references valid in the document. */
interface ObjectFields {
  readonly apiVersion: Schema;
  readonly kind: Schema;
  readonly metadata: Schema;
}

const preserves = 'x-kubernetes-preserve-unknown-fields';
const embeds = 'x-kubernetes-embedded-resource';
const takesBoth = 'x-kubernetes-int-or-string';

/**
 * Returns the schema of a custom kind from the openAPIV3Schema of its CRD. Swagger 2.0 cannot express all of it, and
 * kubectl rejects fields that a v2 schema does not list: a schema that preserves unknown fields is published without
 * any.
 */
export function customSchema(author: Schema, dialect: Dialect, fields: ObjectFields): Schema {
  if (dialect === 'v2' && author[preserves] === true) return { type: 'object' };
  const schema = published(author, dialect, fields);
  return { ...schema, properties: sorted({ ...asFields(schema['properties']), ...fields }) };
}

function published(author: Schema, dialect: Dialect, fields: ObjectFields): Schema {
  const schema = dialect === 'v2' ? swagger2Schema(author) : withIntOrString(author);
  const inner = (value: unknown) => (isJsonObject(value) ? published(value, dialect, fields) : value);
  const { properties, items, additionalProperties } = schema;
  const own: Schema = {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inner(value)])),
    }),
    ...(items !== undefined && { items: inner(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: inner(additionalProperties) }),
  };
  const showsObject = own[embeds] === true && !(dialect === 'v2' && own[preserves] === true);
  return showsObject ? withObjectFields(own, fields) : own;
}

/** Adds apiVersion, kind and metadata to an embedded resource (x-kubernetes-embedded-resource). */
function withObjectFields(schema: Schema, fields: ObjectFields): Schema {
  const required = new Set([...namesIn(schema['required']), 'kind', 'apiVersion']);
  return {
    ...schema,
    properties: sorted({ ...asFields(schema['properties']), ...fields }),
    required: [...required],
  };
}

const eitherType = [{ type: 'integer' }, { type: 'string' }];

/** Adds the anyOf that x-kubernetes-int-or-string stands for, which clients without the extension understand. */
function withIntOrString(schema: Schema): Schema {
  if (schema[takesBoth] !== true) return schema;
  const { anyOf, allOf } = schema;
  const [first] = Array.isArray(allOf) ? (allOf as unknown[]) : [];
  if (isIntOrString(anyOf) || isIntOrString(asFields(first)['anyOf'])) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: eitherType };
  return { ...schema, allOf: [{ anyOf: eitherType }, ...(Array.isArray(allOf) ? (allOf as unknown[]) : [])] };
}

function isIntOrString(anyOf: unknown): boolean {
  if (!Array.isArray(anyOf) || anyOf.length !== eitherType.length) return false;
  return eitherType.every(({ type }, index) => {
    const alternative = asFields((anyOf as unknown[])[index]);
    return alternative['type'] === type && Object.keys(alternative).length === 1;
  });
}

const absentFromV2 = ['allOf', 'oneOf', 'anyOf', 'not', 'nullable', 'default'];

/** Removes keywords that Swagger 2.0 lacks, and constraints that would then make kubectl reject valid objects. */
function swagger2Schema(schema: Schema): Schema {
  const isNullable = schema['nullable'] === true;
  const isOpen = schema[preserves] === true;
  const without = new Set(absentFromV2);
  if (isNullable || isOpen) ['items', 'properties'].forEach((name) => without.add(name));
  const hasItems = schema['items'] !== undefined && !without.has('items');
  const { type } = schema;
  if (isNullable || (type === 'array' && !hasItems) || (type === 'object' && isOpen)) without.add('type');
  const properties = without.has('properties') ? {} : asFields(schema['properties']);
  const mayBeNull = (value: unknown) => asFields(value)['nullable'] === true;
  const required = mayBeNull(schema['additionalProperties'])
    ? []
    : namesIn(schema['required']).filter((name) => !mayBeNull(properties[name]));
  if (required.length === 0) without.add('required');
  const kept = Object.entries({ ...schema, required }).filter(([name]) => !without.has(name));
  return Object.fromEntries(kept);
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

function sorted(properties: Schema): Schema {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}
