import type { JsonValue } from '../../machinery/kube-object.js';
import type { Field, FieldType, ListType, ScalarType, StructType, ValueName } from '../../machinery/type-model.js';
import { stringText } from './json-text.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import { fieldElement } from './path-element.js';
import { atomicJson, mapOf, type FieldSchema, type ListKey, type ListSchema, type Schema } from './schema.js';

/** Schemas are registered before their fields are computed, since types are recursive. */
const schemas = new WeakMap<StructType, Map<StructOwnership, Schema>>();

/** Ownership of a struct; the declaration of the field takes precedence over that of the struct. */
type StructOwnership = 'atomic' | 'granular' | 'asDeclared';

export function schemaOfType(type: FieldType, field?: Field): Schema {
  switch (type.form) {
    case 'scalar':
      return scalarSchemas[type.scalar];
    case 'value':
      return valueSchemas[type.value];
    case 'list':
      return { scalar: undefined, list: listSchema(type, field), map: undefined };
    case 'map':
      return { scalar: undefined, list: undefined, map: mapOf(schemaOfType(type.of), field?.isAtomic ?? false) };
    case 'struct':
      return structSchema(type, field?.isAtomic ? 'atomic' : field?.isGranular ? 'granular' : 'asDeclared');
  }
}

function scalar(kind: Schema['scalar']): Schema {
  return { scalar: kind, list: undefined, map: undefined };
}

const text = scalar('string');
const numeric = scalar('numeric');
const untyped = scalar('untyped');
const scalarSchemas: Readonly<Record<ScalarType['scalar'], Schema>> = {
  string: text,
  bytes: text,
  bool: scalar('boolean'),
  int32: numeric,
  int64: numeric,
  float64: numeric,
};

const valueSchemas: Readonly<Record<ValueName, Schema>> = {
  time: untyped,
  microTime: untyped,
  duration: text,
  quantity: untyped,
  intOrString: untyped,
  fieldsV1: atomicJson,
  rawExtension: atomicJson,
  json: atomicJson,
  schemaOrBool: atomicJson,
  schemaOrArray: atomicJson,
  schemaOrStrings: atomicJson,
};

function structSchema(type: StructType, ownership: StructOwnership): Schema {
  let known = schemas.get(type);
  if (!known) schemas.set(type, (known = new Map<StructOwnership, Schema>()));
  let schema = known.get(ownership);
  if (!schema) known.set(ownership, (schema = new StructSchema(type, ownership)));
  return schema;
}

/** The fields are computed on first use: most built-in types are never needed. */
class StructSchema implements Schema {
  readonly scalar = undefined;
  readonly list = undefined;
  private fields: Schema['map'];

  constructor(
    private readonly type: StructType,
    private readonly ownership: StructOwnership,
  ) {}

  get map(): NonNullable<Schema['map']> {
    if (this.fields) return this.fields;
    const names = [...this.type.byName.keys()].sort(compareUtf8);
    const fields = new Map<string, FieldSchema>();
    names.forEach((name, rank) => fields.set(name, fieldSchema(name, rank, this.type.byName.get(name)!)));
    this.fields = {
      isAtomic: this.ownership === 'asDeclared' ? this.type.isAtomic : this.ownership === 'atomic',
      fields,
      byElement: new Map([...fields.values()].map((field) => [field.element, field])),
      values: undefined,
      constant: [...fields.values()].filter(
        ({ name, zero }) => zero !== undefined && isConstant(this.type.byName.get(name)!),
      ),
    };
    return this.fields;
  }
}

function fieldSchema(name: string, rank: number, field: Field): FieldSchema {
  return { name, element: fieldElement(name), rank, schema: schemaOfType(field.type, field), zero: zeroOf(field) };
}

/**
 * The value that Go writes for an unset field; undefined if it omits the field. Structs, and values that are structs in
 * Go, are written even with omitempty.
 */
function zeroOf(field: Field): JsonValue | undefined {
  const { type } = field;
  if (!field.isPointer && type.form === 'struct') return emptyStruct;
  if (!field.isPointer && type.form === 'value') return zeroValues[type.value];
  if (field.omitsEmpty) return undefined;
  if (field.isPointer || type.form !== 'scalar' || type.scalar === 'bytes') return null;
  if (type.scalar === 'string') return '';
  return type.scalar === 'bool' ? false : 0;
}

/** Times may have `omitzero`, which the type model does not distinguish from `omitempty`. */
function isConstant(field: Field): boolean {
  return field.type.form === 'struct' || !field.omitsEmpty;
}

const emptyStruct: JsonValue = Object.freeze({});
const zeroValues: Readonly<Record<ValueName, JsonValue | undefined>> = {
  time: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  fieldsV1: null,
  rawExtension: null,
  json: null,
  schemaOrBool: undefined,
  schemaOrArray: undefined,
  schemaOrStrings: undefined,
};

/**
 * Lists without `listType` follow patchStrategy and patchMergeKey, as in kube-apiserver
 * (k8s.io/kube-openapi/pkg/schemaconv).
 */
function listSchema(type: ListType, field: Field | undefined): ListSchema {
  const of = schemaOfType(type.of);
  const kind = field?.list?.type ?? (field?.patch?.strategies.includes('merge') ? patchedKind(field) : 'atomic');
  if (kind !== 'map') return { kind, of, keys: [] };
  const names = field?.list?.keys ?? [field!.patch!.mergeKey!];
  return { kind, of, keys: [...names].sort(compareUtf8).map((name) => listKey(name, type.of)) };
}

function patchedKind(field: Field): 'set' | 'map' {
  return field.patch!.mergeKey === undefined ? 'set' : 'map';
}

function listKey(name: string, item: FieldType): ListKey {
  const field = item.form === 'struct' ? item.byName.get(name) : undefined;
  const zero = field && zeroOf(field);
  return { name, label: `${stringText(name)}:`, default: field?.default ?? zero ?? undefined };
}
