import fc, { type Arbitrary } from 'fast-check';
import type { Catalog } from '../../src/catalog/catalog.js';
import type { Field, FieldType, StructType, ValueName } from '../../src/machinery/type-model.js';

interface AnyObject {
  /** `core.v1.Pod` */
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>> & { readonly apiVersion: string; readonly kind: string };
}

/** Any object of any built-in kind with a protobuf message. */
export function anyObject(catalog: Catalog): Arbitrary<AnyObject> {
  const kinds = [...catalog.kinds().values()]
    .map(({ group, version, kind }) => ({
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      struct: catalog.kind(group, version, kind)!,
    }))
    .filter(({ struct }) => struct.fields.some(({ number }) => number > 0));
  return fc
    .constantFrom(...kinds)
    .chain(({ apiVersion, kind, struct }) =>
      anyStruct(struct, 0).map((fields) => ({ type: struct.name, object: { ...fields, apiVersion, kind } })),
    );
}

/** Any fields of one kind. */
export const anyFields = (struct: StructType): Arbitrary<Record<string, unknown>> => anyStruct(struct, 0);

const depthMax = 5;
const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'v1', 'x'.repeat(200)),
);
const key = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((word) => word !== '__proto__');
const someJson = fc.oneof(fc.integer(), fc.boolean(), text, fc.constant({ a: [1, { b: null }] }));
const second = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-31'), noInvalidDate: true });

const scalars: Readonly<Record<string, Arbitrary<unknown>>> = {
  string: text,
  // Absent and empty bytes are equal in JSON.
  bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((exact) => {
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  }),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
};
const values: Readonly<Partial<Record<ValueName, Arbitrary<unknown>>>> = {
  time: second.map((date) => `${date.toISOString().slice(0, 19)}Z`),
  microTime: second.map((date) => date.toISOString().replace('Z', '123Z')),
  quantity: fc.constantFrom('0', '1', '500m', '128Mi', '1e3'),
  intOrString: fc.oneof(fc.integer(), text),
  rawExtension: fc.dictionary(key, someJson, { maxKeys: 3 }),
  fieldsV1: fc.dictionary(key, fc.constant({}), { maxKeys: 3 }),
  json: someJson,
};

/** Any value of a type; empty beyond the limit on depth. */
function anyOf(type: FieldType, within: StructType, depth: number): Arbitrary<unknown> {
  switch (type.form) {
    case 'scalar':
      return scalars[type.scalar]!;
    case 'struct':
      return anyStruct(type, depth + 1);
    case 'list':
      return fc.array(anyOf(type.of, within, depth), {
        minLength: type.isMessage ? 0 : 1,
        maxLength: depth > 2 ? 1 : 3,
      });
    case 'map':
      return fc.dictionary(key, anyOf(type.of, within, depth), { minKeys: 1, maxKeys: 3 });
    case 'value': {
      const schema = fc.constant(0).chain(() => anyStruct(within, depth + 2));
      if (type.value === 'schemaOrBool') return fc.oneof(fc.boolean(), schema);
      if (type.value === 'schemaOrArray') return fc.oneof(schema, fc.array(schema, { minLength: 1, maxLength: 2 }));
      if (type.value === 'schemaOrStrings') return fc.oneof(schema, fc.array(text, { minLength: 1, maxLength: 2 }));
      return values[type.value]!;
    }
  }
}

function anyStruct(struct: StructType, depth: number): Arbitrary<Record<string, unknown>> {
  if (depth > depthMax) return fc.constant({});
  const fields = writtenFields(struct);
  return fc.subarray(fields, { maxLength: Math.min(5, fields.length) }).chain((some) => {
    const parts = some.map(({ field, holder }) => [field.name, anyOf(field.type, holder, depth)] as const);
    return fc.record(Object.fromEntries(parts));
  });
}

/** Fields with a protobuf number, and the structs that declare them: JSON schemas are recursive. */
function writtenFields(struct: StructType): { readonly field: Field; readonly holder: StructType }[] {
  return struct.fields
    .filter(({ number }) => number > 0)
    .flatMap((field) => (field.isInline ? writtenFields(field.type as StructType) : [{ field, holder: struct }]));
}
