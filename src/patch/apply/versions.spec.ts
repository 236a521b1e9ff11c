import type { JsonObject } from '../../machinery/kube-object.js';
import { catalog } from '../../../test/harness/managed-objects.js';
import { FieldManager } from './field-manager.js';
import { pathsOf, pathText } from './field-set.js';
import { readOwners } from './managed-fields.js';
import { schemaOfJsonSchema } from './schema-of-json-schema.js';
import { schemaOfType } from './schema-of-type.js';

/** A kind whose only field has another name in each version: `sizeV1`, `sizeV2`. */
const meta = schemaOfType(catalog.struct('meta.v1.ObjectMeta'));
const schemaOf = (version: string) =>
  schemaOfJsonSchema(
    {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { [`size${version}`]: { type: 'string' }, note: { type: 'string' } } },
      },
    },
    meta,
  );
const schemas = new Map(['v1', 'v2'].map((version) => [`x/${version}`, schemaOf(version.toUpperCase())]));
const converted = (object: JsonObject, apiVersion: string) => {
  const text = JSON.stringify({ ...object, apiVersion });
  return JSON.parse(text.replace(/"sizeV\d"/g, `"size${apiVersion.slice(2).toUpperCase()}"`)) as JsonObject;
};
const things = (apiVersion: string) =>
  new FieldManager({
    apiVersion,
    kind: 'Thing',
    subresource: '',
    schema: schemas.get(apiVersion)!,
    versions: { schema: (version) => schemas.get(version), convert: converted },
  });
const thing = (apiVersion: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'one' },
  spec,
});
const time = '2026-01-02T03:04:05Z';
const applied = (live: JsonObject | undefined, apiVersion: string, manager: string, spec: JsonObject, force = false) =>
  things(apiVersion).apply({
    live: live && converted(live, apiVersion),
    config: thing(apiVersion, spec),
    manager,
    force,
    time,
  });
const owners = (object: JsonObject) =>
  [...readOwners((object['metadata'] as JsonObject)['managedFields'])!.values()]
    .map(
      ({ manager, apiVersion, fields }) => `${manager} ${apiVersion} ${[...pathsOf(fields)].map(pathText).join(' ')}`,
    )
    .sort();

describe('owners of several versions', () => {
  const live = applied(undefined, 'x/v1', 'm1', { sizeV1: 'a', note: 'n' });

  it('keep their fields in their versions', () => {
    const both = applied(live, 'x/v2', 'm2', { sizeV2: 'a' });
    expect(owners(both)).toEqual(['m1 x/v1 .spec.note .spec.sizeV1', 'm2 x/v2 .spec.sizeV2']);
  });

  it('conflict across versions', () => {
    expect(() => applied(live, 'x/v2', 'm2', { sizeV2: 'b' })).toThrow('conflict with "m1": .spec.sizeV1');
  });

  it('lose fields to a forced apply in another version', () => {
    const forced = applied(live, 'x/v2', 'm2', { sizeV2: 'b' }, true);
    expect(forced['spec']).toEqual({ sizeV2: 'b', note: 'n' });
    expect(owners(forced)).toEqual(['m1 x/v1 .spec.note', 'm2 x/v2 .spec.sizeV2']);
  });

  it('remove fields that they had applied in another version', () => {
    const moved = applied(live, 'x/v2', 'm1', { note: 'n' });
    expect(moved['spec']).toEqual({ note: 'n' });
    expect(owners(moved)).toEqual(['m1 x/v2 .spec.note']);
  });

  it('keep fields that another owner has in another version', () => {
    const shared = applied(live, 'x/v2', 'm2', { sizeV2: 'a' });
    const left = applied(shared, 'x/v1', 'm1', { note: 'n' });
    expect(left['spec']).toEqual({ sizeV1: 'a', note: 'n' });
    expect(owners(left)).toEqual(['m1 x/v1 .spec.note', 'm2 x/v2 .spec.sizeV2']);
  });

  it('lose fields to an update in another version', () => {
    const next = thing('x/v2', { sizeV2: 'c', note: 'n' });
    const updated = things('x/v2').trackUpdate({ live: converted(live, 'x/v2'), next, manager: 'u', time });
    expect(owners(updated)).toEqual(['m1 x/v1 .spec.note', 'u x/v2 .spec.sizeV2']);
  });

  it('are dropped with their version', () => {
    const [entry] = (live['metadata'] as JsonObject)['managedFields'] as JsonObject[];
    const metadata = { name: 'one', managedFields: [{ ...entry, apiVersion: 'x/v0' }] };
    expect(owners(applied({ ...live, metadata }, 'x/v1', 'm2', { sizeV1: 'a' }))).toEqual(['m2 x/v1 .spec.sizeV1']);
  });
});

describe('a type that changed', () => {
  const structs = (mapType: string) =>
    schemaOfJsonSchema(
      {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: { a: { type: 'string' } },
            additionalProperties: { type: 'string' },
            'x-kubernetes-map-type': mapType,
          },
        },
      },
      meta,
    );
  const manager = (mapType: string) => {
    const schema = structs(mapType);
    return new FieldManager({
      apiVersion: 'x/v1',
      kind: 'Thing',
      subresource: '',
      schema,
      versions: { schema: () => schema, convert: (object) => object },
    });
  };
  const config = thing('x/v1', { a: '1', b: '1' });
  const request = { live: undefined, config, manager: 'm', force: false, time };

  it('a field that became atomic is owned by the owners of its parts', () => {
    const live = manager('granular').apply(request);
    const next = { ...live, spec: { a: '1', b: '1' }, more: 1 };
    expect(owners(manager('atomic').trackUpdate({ live, next, manager: 'u', time }))).toContain('m x/v1 .spec');
  });

  it('a field that became granular keeps its owners until it is changed', () => {
    const live = manager('atomic').apply(request);
    const changed = { ...live, spec: { a: '2', b: '1' } };
    expect(owners(manager('granular').trackUpdate({ live, next: changed, manager: 'u', time }))).toEqual([
      'm x/v1 .spec',
      'u x/v1 .spec.a',
    ]);
  });
});
