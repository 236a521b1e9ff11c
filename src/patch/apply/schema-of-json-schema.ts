import type { JsonValue } from '../../machinery/kube-object.js';
import { stringText } from './json-text.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import { fieldElement } from './path-element.js';
import { atomicJson, deducedJson, type FieldSchema, type ListKey, type Schema } from './schema.js';

/** The keywords of a structural schema that ownership depends on. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly default?: JsonValue;
  readonly [extension: string]: unknown;
}

const extension = {
  preserves: 'x-kubernetes-preserve-unknown-fields',
  intOrString: 'x-kubernetes-int-or-string',
  listType: 'x-kubernetes-list-type',
  listKeys: 'x-kubernetes-list-map-keys',
  mapType: 'x-kubernetes-map-type',
  embedded: 'x-kubernetes-embedded-resource',
} as const;

/**
 * Schema of a custom kind. `meta` is the schema of ObjectMeta, for the object and its embedded resources; unknown
 * fields that the schema preserves are handled by their JSON types.
 */
export function schemaOfJsonSchema(schema: JsonSchema, meta: Schema): Schema {
  return withObjectFields(schemaOf(schema, meta), meta);
}

function schemaOf(schema: JsonSchema, meta: Schema): Schema {
  const preserves = schema[extension.preserves] === true;
  if (schema[extension.intOrString] === true) return { scalar: 'untyped', list: undefined, map: undefined };
  switch (schema.type) {
    case 'string':
      return { scalar: 'string', list: undefined, map: undefined };
    case 'integer':
    case 'number':
      return { scalar: 'numeric', list: undefined, map: undefined };
    case 'boolean':
      return { scalar: 'boolean', list: undefined, map: undefined };
    case 'array':
      return { scalar: undefined, list: listOf(schema, meta), map: undefined };
    case 'object': {
      const object = objectOf(schema, meta, preserves);
      return schema[extension.embedded] === true ? withObjectFields(object, meta) : object;
    }
    default:
      return preserves ? deducedJson : atomicJson;
  }
}

function listOf(schema: JsonSchema, meta: Schema): NonNullable<Schema['list']> {
  const of = schema.items ? schemaOf(schema.items, meta) : atomicJson;
  const kind = schema[extension.listType];
  if (kind === 'set') return { kind: 'set', of, keys: [] };
  if (kind !== 'map') return { kind: 'atomic', of, keys: [] };
  const names = [...((schema[extension.listKeys] as string[] | undefined) ?? [])].sort(compareUtf8);
  return { kind: 'map', of, keys: names.map((name) => keyOf(name, schema.items)) };
}

function keyOf(name: string, items: JsonSchema | undefined): ListKey {
  const property = items?.properties && Object.hasOwn(items.properties, name) ? items.properties[name] : undefined;
  return { name, label: `${stringText(name)}:`, default: property?.default };
}

function objectOf(schema: JsonSchema, meta: Schema, preserves: boolean): Schema {
  const names = Object.keys(schema.properties ?? {}).sort(compareUtf8);
  const fields = names.map((name): [string, Schema] => [name, schemaOf(schema.properties![name]!, meta)]);
  const { additionalProperties: additional } = schema;
  const given =
    typeof additional === 'object' ? schemaOf(additional, meta) : additional === true ? atomicJson : undefined;
  return objectSchema(fields, given ?? (preserves ? deducedJson : undefined), schema[extension.mapType] === 'atomic');
}

function objectSchema(fields: readonly [string, Schema][], values: Schema | undefined, isAtomic: boolean): Schema {
  const byName = new Map<string, FieldSchema>();
  fields.forEach(([name, schema], rank) =>
    byName.set(name, { name, element: fieldElement(name), rank, schema, zero: undefined }),
  );
  return {
    scalar: undefined,
    list: undefined,
    map: {
      isAtomic,
      fields: byName,
      byElement: new Map([...byName.values()].map((field) => [field.element, field])),
      values,
      constant: [],
    },
  };
}

/** Adds apiVersion, kind and metadata, whatever the schema has for them. */
function withObjectFields(schema: Schema, meta: Schema): Schema {
  const map = schema.map ?? deducedJson.map!;
  const text: Schema = { scalar: 'string', list: undefined, map: undefined };
  const fields = new Map([...map.fields.values()].map((field): [string, Schema] => [field.name, field.schema]));
  fields.set('apiVersion', text).set('kind', text).set('metadata', meta);
  return objectSchema(
    [...fields].sort(([a], [b]) => compareUtf8(a, b)),
    map.values,
    map.isAtomic,
  );
}

/** Schema of a kind without one: only its metadata is known. */
export function schemaOfAnyObject(meta: Schema): Schema {
  return withObjectFields(deducedJson, meta);
}
