import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchedGoPackages, type GoPackages } from '../../scripts/catalog/go-packages.js';
import { makeCatalog } from '../../scripts/catalog/make-catalog.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { decodeYaml } from '../../src/codec/yaml.js';
import { packageRoot } from '../../src/config/config-files.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonObject, JsonValue } from '../../src/machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../../src/machinery/type-model.js';
import { conform } from '../../src/typed/conform.js';

/**
 * Compares the catalog with its sources, and with other artefacts of the same sources: a schema for server-side apply,
 * and objects of every kind with every field set.
 */
const found = fetchedGoPackages();
const how = 'run `npm run build && node dist/scripts/gen-catalog.js --fetch` on a Debian-like system';
if (found === undefined) {
  process.stderr.write(`skipped: the catalog's sources: ${how}\n`);
  describe.skip(`the catalog's sources (${how})`, () => it('are not available', () => undefined));
} else {
  describe(`the catalog of ${found.provenance}`, () => tests(found));
}

const catalog = new Catalog(namingProfile('kubernetes'));

function tests({ sources, provenance }: GoPackages): void {
  const data = join(packageRoot, 'src/catalog/data');
  const isSame = readFileSync(join(data, 'kinds.ts'), 'utf8').includes(provenance);
  // Another version gives other data; the following tests show that it can be generated.
  (isSame ? it : it.skip)('is as the generator makes it', () => {
    const files = makeCatalog(sources, provenance);
    expect(readdirSync(data)).toEqual([...files.keys()].sort());
    for (const [name, text] of files)
      expect([name, readFileSync(join(data, name), 'utf8') === text]).toEqual([name, true]);
  });

  it('lists have the types and keys of the published apply schema', () => {
    const want = applySchema(sources);
    let compared = 0;
    const differences: unknown[] = [];
    for (const struct of allStructs()) {
      const fields = want.get(struct.modelName);
      if (!fields) continue;
      for (const [name, field] of struct.byName) {
        const theirs = fields.get(name);
        if (theirs === undefined) continue;
        compared++;
        const ours = relationship(field);
        if (JSON.stringify(ours) !== JSON.stringify(theirs)) differences.push([struct.name, name, ours, theirs]);
      }
    }
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(3000);
  });

  const folder = join(sources, 'k8s.io/api/testdata/HEAD');
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.json') && !name.includes('.after_roundtrip.'))
        .map((name) => name.slice(0, -'.json'.length))
    : [];
  it.each(names)('%s is conformed without a change, from JSON and from YAML', (name) => {
    const json = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as JsonObject;
    const yaml = decodeYaml(readFileSync(join(folder, `${name}.yaml`))).value as JsonObject;
    const type = typeOf(name);
    for (const object of [json, yaml]) {
      const made = conform(object, type);
      expect(made.unknownFields).toEqual([]);
      expect(made.object).toEqual(json);
    }
  });
  it(`has samples of ${names.length} objects`, () => expect(names.length).toBeGreaterThan(180));
}

/** `rbac.authorization.k8s.io.v1.Role`, as the files are called. */
function typeOf(name: string): StructType {
  const [, group, version, kind] = /^(.*)\.(\w+)\.(\w+)$/.exec(name)!;
  return catalog.kind(group === 'core' ? '' : group!, version!, kind!)!;
}

function allStructs(): Set<StructType> {
  const seen = new Set<StructType>();
  const visit = (type: FieldType): void => {
    if (type.form === 'list' || type.form === 'map') return visit(type.of);
    if (type.form !== 'struct' || seen.has(type)) return;
    seen.add(type);
    for (const field of type.fields) visit(field.type);
  };
  for (const { group, version, kind } of catalog.kinds().values()) visit(catalog.kind(group, version, kind)!);
  return seen;
}

/** The list type and keys; for types without one, those of their patch strategy. */
function relationship({ type, list, patch, isAtomic }: Field): JsonValue {
  if (type.form === 'list') {
    if (list)
      return list.type === 'map' ? ['associative', ...list.keys] : list.type === 'set' ? ['associative'] : ['atomic'];
    if (!patch?.strategies.includes('merge')) return ['atomic'];
    return patch.mergeKey === undefined ? ['associative'] : ['associative', patch.mergeKey];
  }
  if (type.form === 'map') return isAtomic ? ['atomic'] : ['granular'];
  return [];
}

/** Keyed by type and field. */
function applySchema(sources: string): Map<string, Map<string, JsonValue>> {
  const go = readFileSync(join(sources, 'k8s.io/client-go/applyconfigurations/internal/internal.go'), 'utf8');
  const text = go.slice(go.indexOf('`types:') + 1, go.lastIndexOf('`)'));
  interface Theirs {
    list?: { elementRelationship: string; keys?: string[] };
    map?: { elementRelationship?: string; elementType?: unknown };
  }
  const { types } = decodeYaml(Buffer.from(text)).value as unknown as {
    types: { name: string; map?: { fields?: { name: string; type: Theirs }[] } }[];
  };
  const schema = new Map<string, Map<string, JsonValue>>();
  for (const { name, map } of types) {
    const fields = (map?.fields ?? []).map(({ name: field, type }): [string, JsonValue] => {
      if (type.list) return [field, [type.list.elementRelationship, ...(type.list.keys ?? [])]];
      if (type.map) return [field, [type.map.elementRelationship === 'atomic' ? 'atomic' : 'granular']];
      return [field, []];
    });
    schema.set(name, new Map(fields));
  }
  return schema;
}
