import fc from 'fast-check';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { FieldType, StructType } from '../machinery/type-model.js';
import { conform } from './conform.js';
import { ConformError } from './conform-error.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const names = [
  'core.v1.Pod',
  'core.v1.Service',
  'core.v1.Event',
  'core.v1.Secret',
  'apps.v1.Deployment',
  'batch.v1.Job',
  'autoscaling.v2.HorizontalPodAutoscaler',
  'coordination.v1.Lease',
  'rbac.v1.ClusterRole',
  'apiextensions.v1.CustomResourceDefinition',
  'admissionregistration.v1.ValidatingAdmissionPolicy',
];

const texts: Partial<Record<string, readonly JsonValue[]>> = {
  time: ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.5+01:00', '0001-01-01T00:00:00Z'],
  microTime: ['2020-01-01T00:00:00.123456Z', '2020-01-01T00:00:00.000000-01:00'],
  duration: ['90m', '0', '-1.5s'],
  quantity: ['1', '0.5', '1.5Gi', '1e3', 100, 0.25, ''],
  intOrString: ['', '10%', 0, 5],
  bytes: ['', 'YQ==', 'YR==', 'Y\nQ==', [1, 2]],
};
const odd: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, '', 0, -0, false, true, 'x', 5, 1.5, 2 ** 40),
  fc.constant([]).map((list): JsonValue => [...list]),
  fc.constant({}).map((object): JsonValue => ({ ...object })),
);
const unknownNames = ['zz', 'Spec', 'constructor', '0', ''];

/** A value that mostly fits the type. */
function valueOf(type: FieldType, depth: number): fc.Arbitrary<JsonValue> {
  return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 15, arbitrary: fitting(type, depth) });
}

function fitting(type: FieldType, depth: number): fc.Arbitrary<JsonValue> {
  switch (type.form) {
    case 'struct':
      return depth <= 0 ? fc.constant({}) : structOf(type, depth - 1);
    case 'list':
      return fc.array(valueOf(type.of, depth - 1), { maxLength: 2 });
    case 'map':
      return fc.dictionary(fc.constantFrom('a', 'b', 'cpu', '__proto__'), valueOf(type.of, depth - 1), { maxKeys: 2 });
    case 'value':
      if (type.value === 'schemaOrBool') return fc.constantFrom<JsonValue>(true, false, { type: 'string', zz: 1 });
      if (type.value === 'schemaOrArray') return fc.constantFrom<JsonValue>([], [{ zz: 1 }, null], { type: 'string' });
      if (type.value === 'schemaOrStrings') return fc.constantFrom<JsonValue>([], ['a'], { type: 'string' });
      return texts[type.value] ? fc.constantFrom(...texts[type.value]!) : odd;
    case 'scalar':
      if (type.scalar === 'string') return fc.constantFrom('', 'a', 'b');
      if (type.scalar === 'bool') return fc.boolean();
      if (type.scalar === 'bytes') return fc.constantFrom(...texts.bytes!);
      return fc.constantFrom(0, -0, 1, 2 ** 31 - 1);
  }
}

function structOf(type: StructType, depth: number): fc.Arbitrary<JsonValue> {
  const fields = [...type.byName];
  if (fields.length === 0) return fc.constant({});
  return fc
    .uniqueArray(fc.constantFrom(...fields), { maxLength: 6, selector: ([name]) => name })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map(([name, field]) => [name, valueOf(field.type, depth)]))))
    .chain((object) =>
      fc
        .option(fc.constantFrom(...unknownNames), { freq: 4 })
        .map((name): JsonObject => (name === null ? object : { ...object, [name]: { a: 1 } })),
    );
}

const cases = fc.constantFrom(...names).chain((name) => fc.tuple(fc.constant(name), structOf(catalog.struct(name), 5)));

it('conform is idempotent, removes unknown fields and does not change its input', () => {
  let conformed = 0;
  fc.assert(
    fc.property(cases, ([name, value]) => {
      const type = catalog.struct(name);
      const before = structuredClone(value);
      let once;
      try {
        once = conform(value, type);
      } catch (error) {
        expect(error).toBeInstanceOf(ConformError);
        return;
      }
      conformed++;
      expect(value).toEqual(before);
      const twice = conform(once.object, type);
      expect(twice.unknownFields).toEqual([]);
      expect(twice.object).toEqual(once.object);
      expect(twice.object).not.toBe(once.object);
    }),
    { numRuns: 400 },
  );
  expect(conformed).toBeGreaterThan(100);
});

it('conform returns an object or throws ConformError, for any input', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
      try {
        expect(typeof conform(value as JsonValue, catalog.struct(name)).object).toBe('object');
      } catch (error) {
        expect(error).toBeInstanceOf(ConformError);
      }
    }),
  );
});
