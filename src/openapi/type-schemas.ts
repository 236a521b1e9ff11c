import type { Field, FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';
import { capitalized } from '../std/capitalized.js';

export type Schema = Readonly<Record<string, unknown>>;

/**
 * Swagger 2.0 (v2) or OpenAPI 3.0 (v3). They store schemas under different keys, and differ in the keywords allowed
 * next to a reference. v2 has neither defaults nor alternatives (oneOf, anyOf); they are omitted.
 */
export type Dialect = 'v2' | 'v3';

interface TypeNames {
  readonly dialect: Dialect;
  /** Returns a reference to the schema of a struct or value, and adds the schema to the document. */
  readonly refer: (type: StructType | ValueName) => Schema;
  /** Returns the description of a field, for example `core.v1.Container`, `image`; '' is the type itself. */
  readonly describe: (struct: string, field: string) => string | undefined;
}

const scalars: Readonly<Record<ScalarType['scalar'], Schema>> = {
  string: { type: 'string' },
  bytes: { type: 'string', format: 'byte' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
};
/** Fields without description in kube-apiserver, whose schema is therefore a reference without allOf. */
const bareReferences: ReadonlySet<string> = new Set([
  ...['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'].map(
    (name) => `apiextensions.v1.JSONSchemaProps.${name}`,
  ),
  'networking.v1.IngressRuleValue.http',
]);
const zeros = { string: '', bytes: undefined, bool: false, int32: 0, int64: 0, float64: 0 } as const;

export const valueSchemas: Readonly<Record<Dialect, Readonly<Record<ValueName, Schema>>>> = {
  v2: valuesFor({ type: 'string' }, { type: 'string', format: 'int-or-string' }),
  v3: valuesFor(
    { oneOf: [{ type: 'string' }, { type: 'number' }] },
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ),
};

function valuesFor(quantity: Schema, intOrString: Schema): Readonly<Record<ValueName, Schema>> {
  return {
    time: { type: 'string', format: 'date-time' },
    microTime: { type: 'string', format: 'date-time' },
    duration: { type: 'string' },
    quantity,
    intOrString,
    fieldsV1: { type: 'object' },
    rawExtension: { type: 'object' },
    json: {},
    schemaOrBool: {},
    schemaOrArray: {},
    schemaOrStrings: {},
  };
}

/**
 * Returns the schema of a struct as kube-apiserver publishes it: properties by name, required fields in declared order.
 */
export function structSchema(struct: StructType, names: TypeNames): Schema {
  const fields = [...fieldsOf(struct)];
  const required = fields.filter(({ field }) => isRequired(field)).map(({ field }) => field.name);
  const properties = fields
    .map(({ owner, field }) => [field.name, fieldSchema(field, owner, names)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...described(names.describe(struct.name, '')),
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(struct.isAtomic && { 'x-kubernetes-map-type': 'atomic' }),
    ...(struct.unions.length > 0 && { 'x-kubernetes-unions': struct.unions.map(unionOf) }),
  };
}

/** Yields the fields of the JSON object, inlined structs included, with the struct that declares each. */
function* fieldsOf(struct: StructType): Generator<{ owner: string; field: Field }> {
  for (const field of struct.fields) {
    if (!field.isInline) yield { owner: struct.name, field };
    else if (field.type.form === 'struct') yield* fieldsOf(field.type);
  }
}

function isRequired({ presence, omitsEmpty }: Field): boolean {
  return presence === undefined ? !omitsEmpty : presence === 'required';
}

function fieldSchema(field: Field, owner: string, names: TypeNames): Schema {
  const { dialect } = names;
  const schema = typeSchema(field.type, names);
  const beside = {
    ...described(names.describe(owner, field.name)),
    ...(dialect === 'v3' && defaultOf(field)),
    ...extensionsOf(field),
  };
  if (dialect === 'v2' || !('$ref' in schema)) return { ...beside, ...schema };
  if (Object.keys(beside).length === 0 && bareReferences.has(`${owner}.${field.name}`)) return schema;
  // OpenAPI 3.0 ignores keywords next to $ref.
  return { ...beside, allOf: [schema] };
}

/** Returns an inline schema for scalars, lists and maps, and a reference for named types. */
function typeSchema(type: FieldType, names: TypeNames): Schema {
  switch (type.form) {
    case 'scalar':
      return type.enumValues ? { ...scalars[type.scalar], enum: type.enumValues } : scalars[type.scalar];
    case 'value':
      return names.refer(type.value);
    case 'struct':
      return names.refer(type);
    case 'list':
      return { type: 'array', items: typeSchema(type.of, names) };
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, names) };
  }
}

/** Returns the declared default, or Go's zero value of a field that JSON always contains. */
function defaultOf({ type, isPointer, omitsEmpty, default: given }: Field): { default?: unknown } {
  if (given !== undefined) return { default: given };
  if (isPointer) return {};
  if (type.form === 'struct') return { default: {} };
  if (type.form !== 'scalar' || omitsEmpty) return {};
  const zero = zeros[type.scalar];
  return zero === undefined ? {} : { default: zero };
}

function extensionsOf({ list, isAtomic, isGranular, patch }: Field): Record<string, unknown> {
  return {
    ...(list && list.keys.length > 0 && { 'x-kubernetes-list-map-keys': list.keys }),
    ...(list && { 'x-kubernetes-list-type': list.type }),
    ...(isAtomic && { 'x-kubernetes-map-type': 'atomic' }),
    ...(isGranular && { 'x-kubernetes-map-type': 'granular' }),
    ...(patch?.mergeKey !== undefined && { 'x-kubernetes-patch-merge-key': patch.mergeKey }),
    ...(patch && patch.strategies.length > 0 && { 'x-kubernetes-patch-strategy': patch.strategies.join() }),
  };
}

function unionOf({ discriminator, members }: StructType['unions'][number]): Schema {
  return {
    ...(discriminator !== undefined && { discriminator }),
    'fields-to-discriminateBy': Object.fromEntries(members.map((name) => [name, capitalized(name)])),
  };
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}
