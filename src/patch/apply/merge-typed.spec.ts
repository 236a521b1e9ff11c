import type { JsonValue } from '../../machinery/kube-object.js';
import { catalog } from '../../../test/harness/managed-objects.js';
import { readFieldSet } from './field-set-reader.js';
import { mergeTyped } from './merge-typed.js';
import { withoutFields } from './remove-fields.js';
import { schemaOfJsonSchema, type JsonSchema } from './schema-of-json-schema.js';
import { schemaOfType } from './schema-of-type.js';

const list = (type: string, items: JsonSchema, keys?: string[]): JsonSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  ...(keys && { 'x-kubernetes-list-map-keys': keys }),
});
const schema = schemaOfJsonSchema(
  {
    type: 'object',
    properties: {
      set: list('set', { type: 'string' }),
      map: list('map', { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string' } } }, ['k']),
      plain: { type: 'array', items: { type: 'string' } },
      granular: { type: 'object', additionalProperties: { type: 'string' } },
      atomic: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
    },
  },
  schemaOfType(catalog.struct('meta.v1.ObjectMeta')),
);
const letters = (text: string) => ({ set: [...text] });

describe('merging a configuration into an object', () => {
  it.each<[string, JsonValue, JsonValue, JsonValue]>([
    ['nothing', letters('ab'), {}, letters('ab')],
    ['into nothing', {}, letters('ab'), letters('ab')],
    ['an equal configuration', letters('abc'), letters('abc'), letters('abc')],
    ['a new last item', letters('abc'), letters('abcd'), letters('abcd')],
    ['a new first item', letters('abc'), letters('dabc'), letters('dabc')],
    ['a new item in between', letters('abc'), letters('adc'), letters('abdc')],
    ['another order', letters('abc'), letters('cba'), letters('cba')],
    ['some items in another order', letters('abcde'), letters('db'), letters('acdeb')],
    ['only other items', letters('abc'), letters('xy'), letters('abcxy')],
    ['a duplicate item', letters('aba'), letters('a'), letters('ab')],
    [
      'items by key',
      { map: [{ k: 'a', v: '1' }, { k: 'b' }] },
      { map: [{ k: 'b', v: '2' }] },
      {
        map: [
          { k: 'a', v: '1' },
          { k: 'b', v: '2' },
        ],
      },
    ],
    ['an atomic list', { plain: ['a', 'b'] }, { plain: ['c'] }, { plain: ['c'] }],
    ['a granular map', { granular: { a: '1', b: '1' } }, { granular: { b: '2' } }, { granular: { a: '1', b: '2' } }],
    ['an atomic map', { atomic: { a: '1' } }, { atomic: { b: '1' } }, { atomic: { b: '1' } }],
    ['null for a map', { granular: { a: '1' } }, { granular: null }, { granular: { a: '1' } }],
    ['null for a string', { granular: { a: '1' } }, { granular: { a: null } }, { granular: { a: null } }],
    ['an empty map', {}, { granular: {} }, { granular: {} }],
  ])('merges %s', (_, live, config, want) => {
    const before = JSON.stringify([live, config]);
    expect(mergeTyped(schema, live, config)).toEqual(want);
    expect(JSON.stringify([live, config])).toBe(before);
  });

  it('merges a field of any name', () => {
    const config = JSON.parse('{"granular":{"__proto__":"x","constructor":"y"}}') as JsonValue;
    const merged = mergeTyped(schema, { granular: { a: '1' } }, config) as { granular: object };
    expect(Object.keys(merged.granular)).toEqual(['a', '__proto__', 'constructor']);
    expect(Object.getPrototypeOf(merged.granular)).toBe(Object.prototype);
  });
});

describe('withoutFields', () => {
  it.each<[string, JsonValue, object, JsonValue]>([
    ['a field', { granular: { a: '1', b: '1' } }, { 'f:granular': { 'f:a': {} } }, { granular: { b: '1' } }],
    ['all fields of a map', { granular: { a: '1' } }, { 'f:granular': { 'f:a': {} } }, { granular: {} }],
    ['a map with its fields', { granular: { a: '1' }, plain: ['x'] }, { 'f:granular': {} }, { plain: ['x'] }],
    ['an item', letters('abc'), { 'f:set': { 'v:"b"': {} } }, letters('ac')],
    [
      'a field of an item',
      { map: [{ k: 'a', v: '1' }] },
      { 'f:map': { 'k:{"k":"a"}': { 'f:v': {} } } },
      { map: [{ k: 'a' }] },
    ],
    ['an absent field', letters('a'), { 'f:set': { 'v:"b"': {} }, 'f:zz': {} }, letters('a')],
  ])('removes %s', (_, value, fields, want) =>
    expect(withoutFields(schema, value, readFieldSet(fields))).toEqual(want),
  );
});
