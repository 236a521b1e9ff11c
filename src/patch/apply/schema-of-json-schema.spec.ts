import { catalog } from '../../../test/harness/managed-objects.js';
import { atomicJson, deducedJson, type Schema } from './schema.js';
import { schemaOfAnyObject, schemaOfJsonSchema, type JsonSchema } from './schema-of-json-schema.js';
import { schemaOfType } from './schema-of-type.js';

const meta = schemaOfType(catalog.struct('meta.v1.ObjectMeta'));
const fieldOf = (schema: JsonSchema) =>
  schemaOfJsonSchema({ type: 'object', properties: { f: schema } }, meta).map!.fields.get('f')!.schema;

function shown({ scalar, list, map }: Schema): string {
  if (list && !scalar)
    return `${list.kind}(${list.keys.map((key) => `${key.name}=${JSON.stringify(key.default)}`).join()})`;
  if (map && !scalar) {
    const values = map.values && (map.values === deducedJson ? 'deduced' : map.values === atomicJson ? 'any' : 'typed');
    return `${map.isAtomic ? 'atomic' : 'granular'} {${[...map.fields.keys()].join()}} ${values ?? 'nothing else'}`;
  }
  return scalar!;
}

const text: JsonSchema = { type: 'string' };

describe('schema of a custom kind', () => {
  it.each<[JsonSchema, string]>([
    [text, 'string'],
    [{ type: 'integer' }, 'numeric'],
    [{ type: 'number' }, 'numeric'],
    [{ type: 'boolean' }, 'boolean'],
    [{ 'x-kubernetes-int-or-string': true }, 'untyped'],
    [{ type: 'array', items: text }, 'atomic()'],
    [{ type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, 'set()'],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { b: text, a: { type: 'string', default: 'x' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b', 'a'],
      },
      'map(a="x",b=undefined)',
    ],
    [{ type: 'object', properties: { b: text, a: text } }, 'granular {a,b} nothing else'],
    [{ type: 'object', additionalProperties: text }, 'granular {} typed'],
    [{ type: 'object', additionalProperties: true }, 'granular {} any'],
    [{ type: 'object', properties: { a: text }, 'x-kubernetes-map-type': 'atomic' }, 'atomic {a} nothing else'],
    [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'granular {} deduced'],
    [{ type: 'object', properties: { a: text }, 'x-kubernetes-preserve-unknown-fields': true }, 'granular {a} deduced'],
    [
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      'granular {apiVersion,kind,metadata} deduced',
    ],
  ])('%j: %s', (schema, want) => expect(shown(fieldOf(schema))).toBe(want));

  it('values without a type are atomic', () => {
    expect(fieldOf({})).toBe(atomicJson);
    expect(fieldOf({ 'x-kubernetes-preserve-unknown-fields': true })).toBe(deducedJson);
  });

  it('every object has apiVersion, kind and metadata', () => {
    const schema = schemaOfJsonSchema({ type: 'object', properties: { metadata: { type: 'object' } } }, meta);
    expect(shown(schema)).toBe('granular {apiVersion,kind,metadata} nothing else');
    expect(schema.map!.fields.get('metadata')!.schema).toBe(meta);
    expect(shown(schemaOfAnyObject(meta))).toBe('granular {apiVersion,kind,metadata} deduced');
  });
});
