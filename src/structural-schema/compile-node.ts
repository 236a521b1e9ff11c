import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../machinery/fields.js';
import { isJsonObject, type JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';
import { Pattern } from '../regex/pattern.js';
import { filled } from './fill.js';
import { formatOf } from './formats.js';
import { pruned } from './prune.js';
import type {
  Alternatives,
  Enumeration,
  ListBounds,
  NumberBounds,
  ObjectBounds,
  SchemaNode,
  TextBounds,
} from './schema-node.js';

export function compileNode(schema: Fields): SchemaNode {
  const properties = propertiesOf(schema);
  const extra = schema['additionalProperties'];
  const additional = isJsonObject(extra) ? compileNode(extra) : undefined;
  const items = isJsonObject(schema['items']) ? compileNode(schema['items']) : undefined;
  const type = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : asText(schema['type']);
  const listType = schema['x-kubernetes-list-type'];
  const rules = orNothing(asItems(schema['x-kubernetes-validations']));
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const inner = [...properties.values(), ...(additional ? [additional] : []), ...(items ? [items] : [])];
  const node: SchemaNode = {
    type,
    types: typesOf(type),
    isNullable: schema['nullable'] === true,
    enumeration: enumerationOf(schema['enum']),
    text: textBounds(schema),
    number: numberBounds(schema),
    format: formatOf(type, asText(schema['format'])),
    list: listBounds(schema),
    object: objectBounds(schema),
    alternatives: alternatives(schema),
    properties,
    additional,
    others: typeof extra === 'boolean' ? extra : additional ? true : undefined,
    items,
    keepsUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    isEmbedded,
    default: undefined,
    defaults: orNothing([...properties].filter(([, node]) => node.default !== undefined)),
    listType: listType === 'set' || listType === 'map' ? listType : undefined,
    keys: orNothing(asTexts(schema['x-kubernetes-list-map-keys'])),
    has: sharedHas({
      defaults: isSet(schema['default']) || inner.some(({ has }) => has.defaults),
      keyedLists: listType === 'set' || listType === 'map' || inner.some(({ has }) => has.keyedLists),
      embedded: isEmbedded || inner.some(({ has }) => has.embedded),
      rules: rules.length > 0 || inner.some(({ has }) => has.rules),
    }),
  };
  return isSet(schema['default'])
    ? { ...node, default: filled(pruned(schema['default'] as JsonValue, node), node) }
    : node;
}

// A definition has thousands of nodes, most of them with few fields: empty lists, maps and type lists are shared.
const none: ReadonlyMap<string, SchemaNode> = new Map();
const nothing: readonly never[] = [];
const orNothing = <Item>(items: readonly Item[]): readonly Item[] => (items.length === 0 ? nothing : items);

const typeLists = new Map<string, readonly string[]>([['', nothing]]);

function typesOf(type: string): readonly string[] {
  let types = typeLists.get(type);
  if (!types) {
    types = type.split(',');
    // Definitions of older releases may name unknown types.
    if (typeLists.size < typesMax) typeLists.set(type, types);
  }
  return types;
}
const typesMax = 20;

const hases = new Map<string, SchemaNode['has']>();

function sharedHas(has: SchemaNode['has']): SchemaNode['has'] {
  const key = `${has.defaults} ${has.keyedLists} ${has.embedded} ${has.rules}`;
  const known = hases.get(key);
  if (!known) hases.set(key, has);
  return known ?? has;
}

function propertiesOf(schema: Fields): ReadonlyMap<string, SchemaNode> {
  const properties = Object.entries(asFields(schema['properties']));
  if (properties.length === 0) return none;
  return new Map(properties.map(([name, inner]) => [name, compileNode(asFields(inner))]));
}

function enumerationOf(values: unknown): Enumeration | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
  const others = values.filter((value) => !isScalar(value)).map((value) => valueKey(value));
  return { values, scalars: new Set<unknown>(values.filter(isScalar)), others: new Set(others) };
}

const numberIn = (schema: Fields, field: string): number | undefined => {
  const value = schema[field];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
};

function textBounds(schema: Fields): TextBounds | undefined {
  const source = asText(schema['pattern']);
  const pattern = source === '' ? undefined : Pattern.of(source);
  const [min, max] = [numberIn(schema, 'minLength'), numberIn(schema, 'maxLength')];
  return min === undefined && max === undefined && !pattern ? undefined : { min, max, pattern };
}

function numberBounds(schema: Fields): NumberBounds | undefined {
  const [min, max] = [numberIn(schema, 'minimum'), numberIn(schema, 'maximum')];
  const multipleOf = numberIn(schema, 'multipleOf');
  if (min === undefined && max === undefined && multipleOf === undefined) return undefined;
  const isAboveMin = schema['exclusiveMinimum'] === true;
  return { min, max, isAboveMin, isBelowMax: schema['exclusiveMaximum'] === true, multipleOf };
}

function listBounds(schema: Fields): ListBounds | undefined {
  const [min, max] = [numberIn(schema, 'minItems'), numberIn(schema, 'maxItems')];
  const isUnique = schema['uniqueItems'] === true;
  return min === undefined && max === undefined && !isUnique ? undefined : { min, max, isUnique };
}

function objectBounds(schema: Fields): ObjectBounds | undefined {
  const [min, max] = [numberIn(schema, 'minProperties'), numberIn(schema, 'maxProperties')];
  const required = asTexts(schema['required']);
  return min === undefined && max === undefined && required.length === 0 ? undefined : { min, max, required };
}

const alternativeFields = ['allOf', 'anyOf', 'oneOf', 'not'];

function alternatives(schema: Fields): Alternatives | undefined {
  if (!alternativeFields.some((field) => isSet(schema[field]))) return undefined;
  const [all, any, one] = ['allOf', 'anyOf', 'oneOf'].map((field) => asItems(schema[field]).map(compileNode));
  const not = isSet(schema['not']) ? compileNode(asFields(schema['not'])) : undefined;
  return all!.length + any!.length + one!.length === 0 && !not ? undefined : { all: all!, any: any!, one: one!, not };
}
