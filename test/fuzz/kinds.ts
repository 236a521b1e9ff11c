import fc from 'fast-check';
import type { Catalog } from '../../src/catalog/catalog.js';
import { apiVersionOf } from '../../src/machinery/gvk.js';
import type { StructType } from '../../src/machinery/type-model.js';
import type { Served } from '../../src/registry/resource-registry.js';
import { anyFields } from '../harness/any-object.js';
import { everyManifest } from '../harness/manifests.js';
import { mutated } from './objects.js';
import type { FuzzRequest } from './requests.js';

type Json = Parameters<typeof mutated>[0];
type Fields = { [field: string]: Json };

/** The collection of a kind, and a valid object. */
export interface KindUnderFuzz {
  readonly collection: string;
  readonly named: string;
  readonly template: Json;
  readonly requests: fc.Arbitrary<FuzzRequest>;
}

const namespace = 'fuzz';
const manifests = new Map(
  everyManifest().map((object) => {
    const text = JSON.stringify(object).replaceAll('"shop"', `"${namespace}"`);
    return [`${object.apiVersion.split('/').at(-2) ?? ''} ${object.kind}`, JSON.parse(text) as Fields] as const;
  }),
);

/** Kinds that affect every other request: their objects are only created as dry runs. */
const governs =
  /admission|webhook|^apiservices|^resourcequotas|^limitranges|^flowschemas|^prioritylevel|^namespaces|^servicecidrs/;

/** Mostly valid requests to each served kind. */
export function kindsUnderFuzz(served: readonly Served[], catalog: Catalog): KindUnderFuzz[] {
  return served.flatMap((resource) => {
    const { group, version, kind, plural, namespaced } = resource.definition;
    const struct = catalog.kind(group, version, kind);
    if (!struct) return [];
    const root = `${group === '' ? '/api' : `/apis/${group}`}/${version}`;
    const collection = `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`;
    const template = templateOf(group, version, kind);
    const name = ((template as Fields)['metadata'] as { name: string }).name;
    const named = `${collection}/${name}`;
    const objects = anyOf(template, struct);
    const isTried = governs.test(plural);
    if (resource.type === 'virtual') {
      return [{ collection, named, template, requests: objects.chain(sent('POST', collection, isTried)) }];
    }
    const whole = [
      objects.chain(sent('POST', collection, isTried)),
      objects.chain(sent('PUT', named, isTried)),
      patches(objects).chain(([type, body]) => sent('PATCH', named, isTried, type)(body)),
    ];
    const parts = Object.entries(resource.definition.subresources).flatMap(([subresource, it]) => {
      const viewKind = it.type === 'view' ? it.viewKind : it.connects ? undefined : it.kind;
      if (it.type === 'handled' && !viewKind) return [];
      const view = viewKind ? catalog.kind(viewKind.group, viewKind.version, viewKind.kind) : struct;
      const bodies = !view ? objects : viewKind ? anyOf(typed(viewKind, name), view) : objects;
      const at = `${named}/${subresource}`;
      return [
        ...(it.verbs.includes('update') ? [bodies.chain(sent('PUT', at, isTried))] : []),
        ...(it.type === 'handled' && it.verbs.includes('create') ? [bodies.chain(sent('POST', at, isTried))] : []),
        ...(it.verbs.includes('patch')
          ? [patches(bodies).chain(([type, body]) => sent('PATCH', at, isTried, type)(body))]
          : []),
      ];
    });
    return [{ collection, named, template, requests: fc.oneof(...whole, ...whole, ...parts) }];
  });
}

const typed = ({ group, version, kind }: { group: string; version: string; kind: string }, name: string): Fields => ({
  apiVersion: apiVersionOf(group, version),
  kind,
  metadata: { name },
});

function templateOf(group: string, version: string, kind: string): Json {
  const known = manifests.get(`${group} ${kind}`) ?? manifests.get(` ${kind}`);
  return { ...(known ?? typed({ group, version, kind }, 'base')), apiVersion: apiVersionOf(group, version) };
}

/** The template with strange values in it, with other values of the right types, or only such values. */
function anyOf(template: Json, struct: StructType): fc.Arbitrary<Json> {
  const fields = anyFields(struct) as fc.Arbitrary<Fields>;
  const own = template as Fields;
  return fc.oneof(
    { weight: 4, arbitrary: mutated(template) },
    { weight: 4, arbitrary: fields.map((more) => ({ ...(merged(own, more) as Fields), ...identity(own, more) })) },
    { weight: 1, arbitrary: fields.map((more) => ({ ...more, ...identity(own, more) })) },
    { weight: 1, arbitrary: fc.tuple(mutated(template), fields).map(([a, b]) => merged(a, b)) },
  );
}

/** Keeps kind and name, whatever else changes. */
const identity = (own: Fields, more: Fields): Fields => ({
  apiVersion: own['apiVersion']!,
  kind: own['kind']!,
  metadata: { ...(more['metadata'] as Fields | undefined), ...(own['metadata'] as Fields) },
});

function merged(a: Json, b: Json): Json {
  if (Array.isArray(a) && Array.isArray(b))
    return b.map((item, index) => (index in a ? merged(a[index]!, item) : item));
  if (!isFields(a) || !isFields(b)) return b;
  const fields: Fields = { ...a };
  for (const [field, value] of Object.entries(b))
    fields[field] = field in fields ? merged(fields[field]!, value) : value;
  return fields;
}

const isFields = (value: Json): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const patchTypes = ['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml', 'json-patch+json'] as const;

function patches(objects: fc.Arbitrary<Json>): fc.Arbitrary<[type: string, body: Json]> {
  return fc
    .tuple(fc.constantFrom(...patchTypes), objects, fc.constantFrom('add', 'replace'))
    .map(([type, object, op]) => {
      if (type !== 'json-patch+json' || !isFields(object)) return [type, object];
      const operations = Object.entries(object).map(([field, value]) => ({ op, path: `/${field}`, value }));
      return [type, operations];
    });
}

function sent(
  method: string,
  target: string,
  isTried: boolean,
  type = 'json',
): (body: Json) => fc.Arbitrary<FuzzRequest> {
  const queries =
    type === 'apply-patch+yaml' ? ['fieldManager=f&force=true', 'fieldManager=g'] : ['', 'fieldValidation=Strict'];
  return (body) =>
    fc.tuple(fc.constantFrom(...queries), fc.boolean()).map(([query, isDry]) => {
      const words = [query, isTried || isDry ? 'dryRun=All' : ''].filter((word) => word !== '');
      return {
        method,
        target: words.length === 0 ? target : `${target}?${words.join('&')}`,
        headers: [['content-type', `application/${type}`]],
        body: Buffer.from(
          JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
        ),
        framing: 'length',
      };
    });
}
