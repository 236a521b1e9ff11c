import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../../src/machinery/type-model.js';

/**
 * Random apply configurations of a type: some of its fields, with few different values so that writers collide. Without
 * empty values, since the presence of an empty list depends on earlier writes. Undefined if no field is possible.
 */
export function configurationsOf(struct: StructType, leaveOut: readonly string[] = []): Arbitrary<JsonObject> {
  return structOf(struct, 0, leaveOut)!;
}

const depthMax = 5;
const fieldsMax = 4;
const name = fc.constantFrom('a', 'b', 'c');

const values: Readonly<Record<string, Arbitrary<JsonValue>>> = {
  string: name,
  bytes: fc.constantFrom('YQ==', 'Yg=='),
  bool: fc.boolean(),
  int32: fc.constantFrom(1, 2),
  int64: fc.constantFrom(1, 2),
  float64: fc.constantFrom(0.5, 1.5),
  time: fc.constant('2026-01-02T03:04:05Z'),
  microTime: fc.constant('2026-01-02T03:04:05.000000Z'),
  duration: fc.constant('1s'),
  quantity: fc.constantFrom('1', '2'),
  intOrString: fc.constantFrom<JsonValue>(80, 'http'),
};

/** Structs are recursive; fields beyond the limit on depth are omitted. */
function structOf(
  struct: StructType,
  depth: number,
  leaveOut: readonly string[] = [],
): Arbitrary<JsonObject> | undefined {
  const parts = [...struct.byName.values()].flatMap((field) => {
    const value = leaveOut.includes(field.name) ? undefined : fieldOf(field, depth);
    return value ? [[field.name, value] as const] : [];
  });
  if (parts.length === 0) return undefined;
  return fc
    .subarray(parts, { minLength: 1, maxLength: Math.min(fieldsMax, parts.length) })
    .chain((some) => fc.record<JsonObject>(Object.fromEntries(some)));
}

function fieldOf({ type, list }: Field, depth: number): Arbitrary<JsonValue> | undefined {
  if (type.form !== 'list') return valueOf(type, depth);
  if (list?.type === 'map' && type.of.form === 'struct') return itemsByKeys(type.of, list.keys, depth);
  const item = valueOf(type.of, depth);
  if (!item) return undefined;
  return list?.type === 'set'
    ? fc.uniqueArray(item, { minLength: 1, maxLength: 2 })
    : fc.array(item, { minLength: 1, maxLength: 2 });
}

/** All keys are set, so that no default replaces one. */
function itemsByKeys(of: StructType, keys: readonly string[], depth: number): Arbitrary<JsonValue> | undefined {
  if (depth >= depthMax) return undefined;
  const key = fc.record<JsonObject>(
    Object.fromEntries(keys.map((one) => [one, valueOf(of.byName.get(one)!.type, depth)!])),
  );
  const rest = structOf(of, depth + 1, keys) ?? fc.constant<JsonObject>({});
  const item = fc.tuple(rest, key).map(([others, named]) => ({ ...others, ...named }));
  const identity = (one: JsonObject) => JSON.stringify(keys.map((field) => one[field]));
  return fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: identity });
}

function valueOf(type: FieldType, depth: number): Arbitrary<JsonValue> | undefined {
  switch (type.form) {
    case 'scalar':
      return values[type.scalar];
    case 'value':
      return values[type.value];
    case 'struct':
      return depth < depthMax ? structOf(type, depth + 1) : undefined;
    case 'list': {
      const item = valueOf(type.of, depth);
      return item && fc.array(item, { minLength: 1, maxLength: 2 });
    }
    case 'map': {
      const value = valueOf(type.of, depth);
      return value && fc.dictionary(name, value, { minKeys: 1, maxKeys: 2 });
    }
  }
}
