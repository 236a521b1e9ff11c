import fc from 'fast-check';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { path } from '../machinery/field-error.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { strict } from './leniency.js';
import { atOnce } from '../std/steps.js';
import { validateSchema } from './schema.validation.js';
import { compileSchema } from './value-schema.js';

const objectMeta = new Catalog(namingProfile('kubernetes')).struct('meta.v1.ObjectMeta');
const compile = (schema: Schema) => compileSchema(schema, { objectMeta });

type Schema = Record<string, unknown>;
const names = ['a', 'b', 'c', '__proto__', 'metadata', 'kind', 'constructor'];
const record = (values: fc.Arbitrary<Schema>, maxKeys = 3) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), values), {
      minLength: 1,
      maxLength: maxKeys,
      selector: ([name]) => name,
    })
    .map((entries) => Object.fromEntries(entries));
/** Present in `chance` of six cases. */
const maybe = (key: string, values: fc.Arbitrary<unknown>, chance: number): fc.Arbitrary<Schema> =>
  fc.oneof(
    { weight: chance, arbitrary: values.map((value): Schema => ({ [key]: value })) },
    { weight: 6 - chance, arbitrary: fc.constant<Schema>({}) },
  );
const merged = (...parts: fc.Arbitrary<Schema>[]): fc.Arbitrary<Schema> =>
  fc.tuple(...parts).map((them) => Object.assign({}, ...them) as Schema);
const flag = (key: string) => maybe(key, fc.constant(true), 1);

const bounds = (min: string, max: string) =>
  merged(maybe(min, fc.nat(2), 1), maybe(max, fc.integer({ min: 1, max: 4 }), 1));

/** Keywords that narrow a value and are also allowed in alternatives. */
const rules: Readonly<Record<string, fc.Arbitrary<Schema>>> = {
  string: merged(
    maybe('enum', fc.constant(['', 'a', 'ab']), 1),
    maybe('pattern', fc.constantFrom('^a', 'b$', '.*', '[[:alpha:]]'), 1),
    maybe('format', fc.constantFrom('date', 'ipv4', 'colour', 'byte'), 1),
    bounds('minLength', 'maxLength'),
  ),
  integer: merged(
    bounds('minimum', 'maximum'),
    maybe('multipleOf', fc.constantFrom(1, 2), 1),
    flag('exclusiveMaximum'),
  ),
  number: merged(bounds('minimum', 'maximum'), maybe('multipleOf', fc.constantFrom(0.5, 0.1), 1)),
  boolean: maybe('enum', fc.constant([true]), 1),
};

interface Options {
  /** Include bounds on the whole value, which pruning or defaulting may violate. */
  readonly wholes: boolean;
  /** Include defaults; those inside additionalProperties may be invalid. */
  readonly defaults: boolean;
}

function schemaOf(depth: number, options: Options): fc.Arbitrary<Schema> {
  const scalar = fc
    .constantFrom('string', 'integer', 'number', 'boolean')
    .chain((type) => merged(fc.constant({ type }), rules[type]!, flag('nullable'), alternativesOf(type, options)));
  const loose = fc.constantFrom<Schema>(
    { 'x-kubernetes-int-or-string': true },
    { 'x-kubernetes-preserve-unknown-fields': true },
  );
  if (depth <= 0) return fc.oneof(scalar, loose);
  const inner = withDefault(schemaOf(depth - 1, options), options);
  const inMaps = { ...options, defaults: options.defaults && options.wholes };
  const object = { weight: 3, arbitrary: objectOf(inner, options) };
  return fc.oneof(
    scalar,
    loose,
    object,
    mapOf(withDefault(schemaOf(depth - 1, inMaps), inMaps)),
    listOf(inner, options),
  );
}

function alternativesOf(type: string, { wholes }: Options): fc.Arbitrary<Schema> {
  if (!wholes) return fc.constant({});
  const some = fc.array(rules[type]!, { minLength: 1, maxLength: 2 });
  return merged(...['allOf', 'anyOf', 'oneOf'].map((field) => maybe(field, some, 1)), maybe('not', rules[type]!, 1));
}

/** The default may be invalid: `validateSchema` filters those schemas. */
const withDefault = (schemas: fc.Arbitrary<Schema>, { defaults }: Options) =>
  !defaults
    ? schemas
    : schemas.chain((schema) => merged(fc.constant(schema), maybe('default', fittingOf(schema, 2), 4)));

function objectOf(inner: fc.Arbitrary<Schema>, { wholes }: Options): fc.Arbitrary<Schema> {
  return record(inner).chain((properties) => {
    const required = Object.entries(properties).flatMap(([name, { type }]) => (type === undefined ? [] : [name]));
    return merged(
      fc.constant({ type: 'object', properties }),
      maybe('required', fc.subarray(required), 2),
      flag('x-kubernetes-preserve-unknown-fields'),
      flag('nullable'),
      wholes
        ? merged(bounds('minProperties', 'maxProperties'), flag('x-kubernetes-embedded-resource'))
        : fc.constant({}),
      maybe('x-kubernetes-map-type', fc.constantFrom('atomic', 'granular'), 1),
    );
  });
}

const mapOf = (inner: fc.Arbitrary<Schema>) =>
  fc.oneof(inner, fc.boolean()).map((additionalProperties): Schema => ({ type: 'object', additionalProperties }));

const listOf = (inner: fc.Arbitrary<Schema>, { wholes }: Options) =>
  merged(
    inner.map((items) => ({ type: 'array', items })),
    bounds('minItems', 'maxItems'),
    flag('nullable'),
    wholes ? maybe('x-kubernetes-list-type', fc.constantFrom('atomic', 'set'), 2) : fc.constant({}),
  );

const odd: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  null,
  '',
  'a',
  'ab',
  'zzzzz',
  0,
  1,
  2,
  -1,
  1.5,
  1e20,
  true,
  false,
  [],
  {},
  { a: null },
  [[{ b: 1 }]],
  { metadata: { name: 1 } },
);

/** A value that mostly matches the schema. */
function valueOf(schema: Schema, depth: number): fc.Arbitrary<JsonValue> {
  const fitting = fittingOf(schema, depth);
  return fc.oneof({ weight: 8, arbitrary: fitting }, { weight: 1, arbitrary: odd });
}

function fittingOf(schema: Schema, depth: number): fc.Arbitrary<JsonValue> {
  const object = (known: readonly string[], of: (name: string) => fc.Arbitrary<JsonValue>) =>
    fc
      .tuple(fc.subarray([...known], { minLength: Math.ceil(known.length / 2) }), fc.subarray(names, { maxLength: 1 }))
      .map(([some, others]) => [...new Set([...some, ...others])])
      .chain((some) => fc.tuple(...some.map((name) => of(name).map((value) => [name, value] as const))))
      .map((entries): JsonValue => Object.fromEntries(entries));
  switch (schema['type']) {
    case 'string':
      return fc.constantFrom('', 'a', 'ab', '2026-01-01', '10.0.0.1');
    case 'integer':
      return fc.integer({ min: -1, max: 5 });
    case 'number':
      return fc.constantFrom(0, 0.3, 1.5, 2);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return depth <= 0 ? fc.constant([]) : fc.array(valueOf(schema['items'] as Schema, depth - 1), { maxLength: 4 });
    case 'object': {
      const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
      const other = (schema['additionalProperties'] ?? {}) as Schema;
      if (depth <= 0) return fc.constant({});
      return object(Object.keys(properties), (name) =>
        valueOf(Object.hasOwn(properties, name) ? properties[name]! : other, depth - 1),
      );
    }
    default:
      return odd;
  }
}

/** A valid schema, and a value for it. */
const cases = (options: Options) =>
  record(schemaOf(2, options), 2)
    .map((properties): Schema => {
      const { kind: _kind, metadata: _metadata, ...rest } = properties;
      return { type: 'object', properties: rest };
    })
    .filter(
      (schema) => atOnce(validateSchema(schema, path('s'), { isStatusApart: false, leniency: strict })).length === 0,
    )
    .chain((schema) => fc.tuple(fc.constant(schema), valueOf(schema, 3), valueOf(schema, 3)));

const runs = { numRuns: 200 };

it('nothing throws, for any accepted schema and any value', () => {
  fc.assert(
    fc.property(cases({ wholes: true, defaults: true }), ([schema, value, old]) => {
      const values = compile(schema);
      const stored = values.refreshed(value);
      for (const each of [value, stored]) {
        values.validate(each);
        values.validateUpdate(each, old);
        values.validateStatusUpdate(each, old);
      }
      expect(values.refreshed(stored)).toEqual(stored);
    }),
    runs,
  );
});

it('pruning and defaulting are idempotent and do not change their input', () => {
  fc.assert(
    fc.property(cases({ wholes: false, defaults: true }), ([schema, value]) => {
      const values = compile(schema);
      const given = structuredClone(value);
      const pruned = values.pruned(value);
      const filled = values.filled(pruned);
      expect(value).toEqual(given);
      expect(values.pruned(pruned)).toBe(pruned);
      expect(values.pruned(filled)).toBe(filled);
      expect(values.filled(filled)).toBe(filled);
      expect(values.pruned(values.filled(value))).toEqual(filled);
    }),
    runs,
  );
});

it('a valid value stays valid after pruning and defaulting', () => {
  fc.assert(
    fc.property(cases({ wholes: false, defaults: true }), ([schema, value]) => {
      const values = compile(schema);
      fc.pre(values.validate(value).length === 0);
      expect(values.validate(values.filled(values.pruned(value)))).toEqual([]);
    }),
    runs,
  );
});

it('an update without changes is never refused', () => {
  fc.assert(
    fc.property(cases({ wholes: false, defaults: true }), ([schema, value]) => {
      expect(compile(schema).validateUpdate(value, structuredClone(value))).toEqual([]);
    }),
    runs,
  );
});
