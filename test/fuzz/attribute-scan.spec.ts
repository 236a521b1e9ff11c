import fc from 'fast-check';
import type { Attributes } from '../../src/cache/encoded-object.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { inspect, parseJson } from '../../src/codec/json.js';
import { encodeStored } from '../../src/codec/stored-object.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonValue, KubeObject } from '../../src/machinery/kube-object.js';
import type { Served } from '../../src/registry/resource-registry.js';
import { AttributeReader } from '../../src/registry/stored/attribute-reader.js';
import { AttributeScan } from '../../src/registry/stored/attribute-scan.js';
import { fits } from '../../src/typed/fits.js';
import { anyFields } from '../harness/any-object.js';
import { chosenSeed } from '../harness/seed.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';

/** FUZZ_OBJECTS=100000 tries more; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const numRuns = Number(process.env['FUZZ_OBJECTS'] ?? 4_000);

const catalog = new Catalog(namingProfile('kubernetes'));

const names = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('n', 'n-1') },
  { weight: 1, arbitrary: fc.constantFrom('é', 'a"b', 'a\\b', '') },
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const owner = fc.record({ apiVersion: fc.constant('v1'), kind: names, name: names, uid: names });
const metadataOf = (isNamespaced: boolean) =>
  fc.record({
    name: fc.oneof({ weight: 8, arbitrary: fc.constant('n') }, { weight: 1, arbitrary: maybe(names) }),
    namespace: fc.oneof(
      { weight: 8, arbitrary: fc.constant(isNamespaced ? 'ns' : undefined) },
      { weight: 1, arbitrary: fc.constantFrom('ns', 'other', '') },
    ),
    uid: fc.oneof({ weight: 8, arbitrary: fc.uuid() }, { weight: 1, arbitrary: maybe(names) }),
    labels: maybe(fc.dictionary(fc.string({ maxLength: 8 }), names)),
    ownerReferences: maybe(fc.array(owner, { maxLength: 2 })),
    finalizers: maybe(fc.array(names, { maxLength: 2 })),
    deletionTimestamp: maybe(fc.constantFrom('2026-11-24T00:00:00Z', '2026-11-24T00:00:00.5Z')),
    managedFields: maybe(fc.constant([{ manager: 'm', fieldsV1: { 'f:a': { '.': {}, 'k:{"b":"c"}': {} } } }])),
  });

/** Texts that may be somewhere in a value that was damaged, or that somebody else has written. */
const strange = ['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', '0', '-', 'e', 'null', 'true', '1e999', '{}', '[]']
  .concat([
    '"a":1',
    ',"spec":{}',
    ',"status":{}',
    ',"metadata":{}',
    '"name":"x",',
    '"namespace":"x",',
    '\\u0061',
    '\xff',
  ])
  .concat(['"labels":{"a":"b"},', '"uid":"u",', '"__proto__":1,', '12345678901234567890', '\0', '\xc3', 'nodeName']);
interface Edit {
  /** The text behind which it is, or the share of the bytes before it. */
  readonly at: string | number;
  readonly deleted: number;
  readonly inserted: string;
}
const anywhere: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  deleted: fc.integer({ min: 0, max: 4 }),
  inserted: fc.constantFrom('', ...strange),
});
/** Fields that are valid at their place, unless they are repeated. */
const valid: fc.Arbitrary<Edit> = fc
  .constantFrom(
    ['"metadata":{', '"labels":{"a":"b\\t"},'],
    ['"metadata":{', '"finalizers":["a"],'],
    ['"metadata":{', '"ownerReferences":[],'],
    ['"metadata":{', '"annotations":{"a":"\\"}","b":"\xff"},'],
    ['"metadata":{', '"managedFields":[{"fieldsV1":{"a":[[{}]]}}],'],
    ['"metadata":{', '"uid":"u",'],
    ['"metadata":{', '"name":"n",'],
    ['"metadata":{', '"creationTimestamp":"2026-11-24T00:00:00Z",'],
    ['"labels":{', '"name":"x",'],
    ['"spec":{', '"nodeName":"n-2",'],
    ['"spec":{', '"type":"x",'],
    ['"status":{', '"phase":"Running",'],
  )
  .map(([at, inserted]) => ({ at: at, deleted: 0, inserted: inserted }));
const edits = fc.array(fc.oneof(anywhere, valid), { maxLength: 2 });

function edited(value: Buffer, changes: readonly Edit[]): Buffer {
  let bytes = value;
  for (const { at: place, deleted, inserted } of changes) {
    const at = typeof place === 'number' ? Math.floor(place * bytes.length) : bytes.indexOf(place) + place.length;
    if (typeof place === 'string' && at < place.length) continue;
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted, 'latin1'), bytes.subarray(at + deleted)]);
  }
  return bytes;
}

function isSafe(value: JsonValue): boolean {
  try {
    return inspect(value) === undefined;
  } catch {
    return false;
  }
}

const plain = ({ namespace, name, uid, labels, fields, lifetime }: Attributes) =>
  ({ namespace, name, uid, labels, fields, lifetime }) satisfies Attributes;

describe('attributes that are found by a scan', () => {
  const server = new ServerUnderFuzz();
  afterAll(() => server.stop());

  let kinds: ReturnType<typeof kindOf>;
  beforeAll(async () => {
    await server.start({ runtimeConfig: { 'api/all': true } });
    const served = server.keelson.components.registry.servedVersions().flatMap(({ resources }) => resources);
    kinds = served.flatMap((resource) => (resource.type === 'virtual' ? [] : kindOf(resource)));
  });

  const kindOf = ({ definition, store }: Exclude<Served, { type: 'virtual' }>) => {
    const { group, version, kind, namespaced: isNamespaced, selectableFields } = definition;
    const type = catalog.kind(group, version, kind);
    if (!type || definition.customType) return [];
    const reader = new AttributeReader(selectableFields, kind, isNamespaced);
    const scan = AttributeScan.of(reader, { type, labels: Object.keys(selectableFields), isNamespaced });
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const key = isNamespaced ? '/registry/kinds/ns/n' : '/registry/kinds/n';
    return scan ? [{ kind, apiVersion, type, reader, scan, isNamespaced, key, store, definition }] : [];
  };

  it('are found in the objects that every cluster begins with', () => {
    const objects = kinds
      .filter(({ store, definition }) => store.definition === definition)
      .flatMap(({ scan, store: { cache } }) =>
        [...cache.snapshot().range(cache.prefix)].map((object) => scan.read(object.storedValue(), object.key)),
      );
    expect(objects.length).toBeGreaterThan(100);
    expect(objects.filter((attributes) => !attributes).length).toBe(0);
  });

  it('are those of the parsed objects, of every kind, also if values are damaged', () => {
    expect(kinds.length).toBeGreaterThan(60);
    const tries = fc.constantFrom(...kinds).chain((kind) => {
      const object = fc
        .tuple(anyFields(kind.type), metadataOf(kind.isNamespaced))
        .map(
          ([fields, metadata]) =>
            ({ ...fields, kind: kind.kind, apiVersion: kind.apiVersion, metadata }) as unknown as KubeObject,
        );
      return fc.tuple(fc.constant(kind), object, edits);
    });
    const found = { whole: 0, edited: 0 };
    fc.assert(
      fc.property(tries, ([{ scan, reader, type, key, isNamespaced }, object, changes]) => {
        const value = edited(encodeStored(object), changes);
        const attributes = scan.read(value, key);
        if (!attributes) return;
        found[changes.length === 0 ? 'whole' : 'edited']++;
        const parsed = parseJson(value);
        expect(fits(parsed, type, isSafe)).toBe(true);
        const { metadata } = parsed as unknown as KubeObject;
        expect([metadata.namespace, metadata.name]).toEqual([isNamespaced ? 'ns' : undefined, 'n']);
        expect(plain(attributes)).toEqual(plain(reader.read(parsed as unknown as KubeObject)));
      }),
      { seed, numRuns },
    );
    // Most objects are usual, and some edits are harmless: otherwise nothing was compared.
    expect(found.whole).toBeGreaterThan(numRuns / 20);
    expect(found.edited).toBeGreaterThan(numRuns / 200);
  });
});
