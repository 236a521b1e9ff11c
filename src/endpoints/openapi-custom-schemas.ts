import { asFields } from '../machinery/fields.js';
import type { Dialect, Schema } from './openapi-type-schemas.js';

/** What every object has, as the document at hand refers to it. */
export interface ObjectFields {
  readonly apiVersion: Schema;
  readonly kind: Schema;
  readonly metadata: Schema;
}

const preserves = 'x-kubernetes-preserve-unknown-fields';
const embeds = 'x-kubernetes-embedded-resource';
const takesBoth = 'x-kubernetes-int-or-string';

/**
 * The schema of the objects that somebody defined, from what the author wrote. The older dialect cannot say all of it,
 * and kubectl takes fields that it does not find there for mistakes: where it would miss some, it is told of none.
 */
export function customSchema(author: Schema, dialect: Dialect, fields: ObjectFields): Schema {
  if (dialect === 'v2' && author[preserves] === true) return { type: 'object' };
  const schema = shown(author, dialect, fields);
  return { ...schema, properties: sorted({ ...asFields(schema['properties']), ...fields }) };
}

function shown(author: Schema, dialect: Dialect, fields: ObjectFields): Schema {
  const schema = dialect === 'v2' ? loosened(author) : unfolded(author);
  const inner = (value: unknown) => (isSchema(value) ? shown(value, dialect, fields) : value);
  const { properties, items, additionalProperties } = schema;
  const own: Schema = {
    ...schema,
    ...(isSchema(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inner(value)])),
    }),
    ...(items !== undefined && { items: inner(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: inner(additionalProperties) }),
  };
  const showsObject = own[embeds] === true && !(dialect === 'v2' && own[preserves] === true);
  return showsObject ? withObjectFields(own, fields) : own;
}

/** An object within an object has what every object has. */
function withObjectFields(schema: Schema, fields: ObjectFields): Schema {
  const required = new Set([...namesIn(schema['required']), 'kind', 'apiVersion']);
  return {
    ...schema,
    properties: sorted({ ...asFields(schema['properties']), ...fields }),
    required: [...required],
  };
}

const eitherType = [{ type: 'integer' }, { type: 'string' }];

/** What the extension for numbers or texts means, said also in words that every client knows. */
function unfolded(schema: Schema): Schema {
  if (schema[takesBoth] !== true) return schema;
  const { anyOf, allOf } = schema;
  const [first] = Array.isArray(allOf) ? (allOf as unknown[]) : [];
  if (saysEither(anyOf) || saysEither(asFields(first)['anyOf'])) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: eitherType };
  return { ...schema, allOf: [{ anyOf: eitherType }, ...(Array.isArray(allOf) ? (allOf as unknown[]) : [])] };
}

function saysEither(anyOf: unknown): boolean {
  if (!Array.isArray(anyOf) || anyOf.length !== eitherType.length) return false;
  return eitherType.every(({ type }, index) => {
    const said = asFields((anyOf as unknown[])[index]);
    return said['type'] === type && Object.keys(said).length === 1;
  });
}

const absentFromV2 = ['allOf', 'oneOf', 'anyOf', 'not', 'nullable', 'default'];

/** Without what Swagger 2.0 has no word for, and without what kubectl would take too literally in its stead. */
function loosened(schema: Schema): Schema {
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

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(properties: Schema): Schema {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}
