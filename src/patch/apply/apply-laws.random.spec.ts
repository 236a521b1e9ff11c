import fc, { type Arbitrary } from 'fast-check';
import { configurationsOf } from '../../../test/harness/configurations.js';
import {
  apply,
  catalog,
  force,
  ManagedObject,
  update,
  type ManagedWrite,
} from '../../../test/harness/managed-objects.js';
import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';
import { fieldsOf } from './config-set.js';
import { difference, pathsOf, pathText, type FieldSet } from './field-set.js';
import { readOwners } from './managed-fields.js';
import { neverOwned } from './never-owned.js';
import { schemaOfAnyObject } from './schema-of-json-schema.js';
import { schemaOfType } from './schema-of-type.js';
import type { Schema } from './schema.js';

/** Runs of each law for each kind: the whole file takes seconds. */
const runs = { numRuns: 40 };

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Schema;
  /** Without the object's identity, and without a status. */
  readonly configurations: Arbitrary<JsonObject>;
}

const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { minKeys: 1, maxKeys: 3 });
const metadata = fc.record({ labels, annotations: labels }, { requiredKeys: ['labels'] });

function builtIn(group: string, version: string, kind: string): Kind {
  const struct = catalog.kind(group, version, kind)!;
  const rest = configurationsOf(struct, ['apiVersion', 'kind', 'metadata', 'status']);
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    schema: schemaOfType(struct),
    configurations: fc.tuple(metadata, rest).map(([meta, others]) => ({ metadata: meta, ...others })),
  };
}

/** For a kind without a type: lists are atomic, maps granular. */
const anything = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(1, 'x', true),
    tie('object'),
    fc.array(tie('value'), { minLength: 1, maxLength: 2 }),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { minKeys: 1, maxKeys: 3 }),
})).object;

const deduced: Kind = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  schema: schemaOfAnyObject(schemaOfType(catalog.struct('meta.v1.ObjectMeta'))),
  configurations: fc.tuple(metadata, anything).map(([meta, spec]) => ({ metadata: meta, spec })),
};

const kinds = [builtIn('apps', 'v1', 'Deployment'), builtIn('', 'v1', 'Service'), builtIn('', 'v1', 'Pod'), deduced];

const applied = (object: ManagedObject, manager: string): FieldSet | undefined =>
  readOwners((object.live!['metadata'] as JsonObject)['managedFields'])!.get(`${manager}\0Apply\0\0`)?.fields;
const texts = (fields: FieldSet | undefined) => (fields ? [...pathsOf(fields)].map(pathText).sort() : []);

describe.each(kinds)('$kind', ({ apiVersion, kind, schema, configurations }) => {
  const make = (...writes: ManagedWrite[]) => {
    const object = new ManagedObject({ apiVersion, kind, schema });
    for (const one of writes) object.write(one);
    return object;
  };
  const write = fc
    .tuple(fc.constantFrom(apply, force, update), fc.constantFrom('m1', 'm2', 'm3'), configurations)
    .map(([verb, by, body]) => verb(by, body));
  const history = fc.array(write, { maxLength: 5 });
  /** The fields of the object, without those that are never owned. */
  const present = (object: ManagedObject) => texts(difference(fieldsOf(schema, object.live!), neverOwned));
  const fieldsIn = (config: JsonObject) =>
    texts(difference(fieldsOf(schema, { apiVersion, kind, ...config }), neverOwned));

  it('applying twice equals applying once', () => {
    fc.assert(
      fc.property(history, configurations, (writes, config) => {
        const object = make(...writes, force('m1', config));
        const { live } = object;
        expect(object.write(apply('m1', config))).toBeUndefined();
        expect(object.live).toEqual(live);
      }),
      runs,
    );
  });

  it('disjoint configurations commute', () => {
    fc.assert(
      fc.property(configurations, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), (config, sides) => {
        const [one, other] = divided(config, sides);
        const [there, back] = [make(apply('m1', one), apply('m2', other)), make(apply('m2', other), apply('m1', one))];
        expect(there.content()).toEqual(back.content());
        expect(there.owners().sort()).toEqual(back.owners().sort());
        expect(texts(applied(there, 'm1'))).toEqual(fieldsIn(one));
      }),
      runs,
    );
  });

  it('without force, no owner loses a field', () => {
    fc.assert(
      fc.property(history, configurations, configurations, (writes, theirs, mine) => {
        const object = make(...writes, force('them', theirs));
        const before = applied(object, 'them');
        const problem = object.write(apply('me', mine));
        expect(applied(object, 'them')).toEqual(before);
        if (problem !== undefined) expect(texts(applied(object, 'me'))).toEqual([]);
      }),
      runs,
    );
  });

  it('omitted fields are removed unless others own them', () => {
    fc.assert(
      fc.property(configurations, configurations, configurations, (first, theirs, then) => {
        const object = make(apply('me', first), force('them', theirs), force('me', then));
        const anew = make(apply('them', theirs), force('me', then));
        expect(present(object)).toEqual(present(anew));
        expect(object.owners().sort()).toEqual(anew.owners().sort());
      }),
      runs,
    );
  });

  it('managedFields cover the configuration, and survive being written and read', () => {
    fc.assert(
      fc.property(history, configurations, (writes, config) => {
        const object = make(...writes, force('m1', config));
        expect(texts(applied(object, 'm1'))).toEqual(fieldsIn(config));
        const { managedFields } = object.live!['metadata'] as JsonObject;
        const again = readOwners(JSON.parse(JSON.stringify(managedFields)));
        expect(again).toEqual(readOwners(managedFields));
        expect(again?.size).toBe((managedFields as JsonValue[]).length);
      }),
      runs,
    );
  });
});

/** Splits the fields of a configuration, one level down, into two configurations. */
function divided(config: JsonObject, sides: readonly boolean[]): [JsonObject, JsonObject] {
  const halves: [JsonObject, JsonObject] = [{}, {}];
  let turn = 0;
  for (const [name, part] of Object.entries(config)) {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
    for (const [field, value] of isObject ? Object.entries(part) : []) {
      const half = halves[sides[turn++ % sides.length] ? 0 : 1];
      half[name] = { ...(half[name] as JsonObject | undefined), [field]: value };
    }
    if (!isObject) halves[sides[turn++ % sides.length] ? 0 : 1][name] = part;
  }
  return halves;
}
