import type { JsonValue } from '../../machinery/kube-object.js';
import type { Field, FieldType, ListType, ScalarType, StructType, ValueName } from '../../machinery/type-model.js';
import { compareText, stringText } from './json-text.js';
import { fieldElement } from './path-element.js';
import { atomicJson, mapOf, type FieldSchema, type ListKey, type ListSchema, type Schema } from './schema.js';

/** Types are linked in circles, so a struct's schema is there before its fields are. */
const schemas = new WeakMap<StructType, Map<Wholeness, Schema>>();

/** Whether a struct is owned as one: what a field says of it counts more than what is declared of the struct. */
type Wholeness = 'atomic' | 'granular' | 'asDeclared';

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

function structSchema(type: StructType, wholeness: Wholeness): Schema {
  let known = schemas.get(type);
  if (!known) schemas.set(type, (known = new Map<Wholeness, Schema>()));
  let schema = known.get(wholeness);
  if (!schema) known.set(wholeness, (schema = new StructSchema(type, wholeness)));
  return schema;
}

/** A struct is looked into when somebody needs its fields: most of the built-in types never are. */
class StructSchema implements Schema {
  readonly scalar = undefined;
  readonly list = undefined;
  private fields: Schema['map'];

  constructor(
    private readonly type: StructType,
    private readonly wholeness: Wholeness,
  ) {}

  get map(): NonNullable<Schema['map']> {
    if (this.fields) return this.fields;
    const names = [...this.type.byName.keys()].sort(compareText);
    const fields = new Map<string, FieldSchema>();
    names.forEach((name, rank) => fields.set(name, fieldSchema(name, rank, this.type.byName.get(name)!)));
    this.fields = {
      isAtomic: this.wholeness === 'asDeclared' ? this.type.isAtomic : this.wholeness === 'atomic',
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
 * What Go writes for a field that nobody set; undefined when it writes nothing. Of structs, and of values that are
 * structs in Go, it writes the empty ones too, whatever is declared of them.
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

/** Times may be declared to be left out when they are zero, which the model does not tell from being empty. */
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
 * Lists without a declaration of their own are told apart as strategic merge does: kube-apiserver reads
 * patchStrategy and patchMergeKey for them (k8s.io/kube-openapi/pkg/schemaconv).
 */
function listSchema(type: ListType, field: Field | undefined): ListSchema {
  const of = schemaOfType(type.of);
  const kind = field?.list?.type ?? (field?.patch?.strategies.includes('merge') ? patchedKind(field) : 'atomic');
  if (kind !== 'map') return { kind, of, keys: [] };
  const names = field?.list?.keys ?? [field!.patch!.mergeKey!];
  return { kind, of, keys: [...names].sort(compareText).map((name) => listKey(name, type.of)) };
}

function patchedKind(field: Field): 'set' | 'map' {
  return field.patch!.mergeKey === undefined ? 'set' : 'map';
}

function listKey(name: string, item: FieldType): ListKey {
  const field = item.form === 'struct' ? item.byName.get(name) : undefined;
  const zero = field && zeroOf(field);
  return { name, label: `${stringText(name)}:`, default: field?.default ?? zero ?? undefined };
}
