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

describe('a configuration laid over an object', () => {
  it.each<[string, JsonValue, JsonValue, JsonValue]>([
    ['nothing', letters('ab'), {}, letters('ab')],
    ['into nothing', {}, letters('ab'), letters('ab')],
    ['the same', letters('abc'), letters('abc'), letters('abc')],
    ['a new last item', letters('abc'), letters('abcd'), letters('abcd')],
    ['a new first item', letters('abc'), letters('dabc'), letters('dabc')],
    ['an item between', letters('abc'), letters('adc'), letters('abdc')],
    ['another order', letters('abc'), letters('cba'), letters('cba')],
    ['some in another order', letters('abcde'), letters('db'), letters('acdeb')],
    ['only others', letters('abc'), letters('xy'), letters('abcxy')],
    ['an item that stood there twice', letters('aba'), letters('a'), letters('ab')],
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
    ['a list as one', { plain: ['a', 'b'] }, { plain: ['c'] }, { plain: ['c'] }],
    ['a map', { granular: { a: '1', b: '1' } }, { granular: { b: '2' } }, { granular: { a: '1', b: '2' } }],
    ['a map as one', { atomic: { a: '1' } }, { atomic: { b: '1' } }, { atomic: { b: '1' } }],
    ['null for a map', { granular: { a: '1' } }, { granular: null }, { granular: { a: '1' } }],
    ['null for a text', { granular: { a: '1' } }, { granular: { a: null } }, { granular: { a: null } }],
    ['an empty map', {}, { granular: {} }, { granular: {} }],
  ])('%s', (_, live, config, want) => {
    const before = JSON.stringify([live, config]);
    expect(mergeTyped(schema, live, config)).toEqual(want);
    expect(JSON.stringify([live, config])).toBe(before);
  });

  it('makes a field of any name a field', () => {
    const config = JSON.parse('{"granular":{"__proto__":"x","constructor":"y"}}') as JsonValue;
    const merged = mergeTyped(schema, { granular: { a: '1' } }, config) as { granular: object };
    expect(Object.keys(merged.granular)).toEqual(['a', '__proto__', 'constructor']);
    expect(Object.getPrototypeOf(merged.granular)).toBe(Object.prototype);
  });
});

describe('an object without some fields', () => {
  it.each<[string, JsonValue, object, JsonValue]>([
    ['a field', { granular: { a: '1', b: '1' } }, { 'f:granular': { 'f:a': {} } }, { granular: { b: '1' } }],
    ['all of a map', { granular: { a: '1' } }, { 'f:granular': { 'f:a': {} } }, { granular: {} }],
    ['the map too', { granular: { a: '1' }, plain: ['x'] }, { 'f:granular': {} }, { plain: ['x'] }],
    ['an item', letters('abc'), { 'f:set': { 'v:"b"': {} } }, letters('ac')],
    [
      'a field of an item',
      { map: [{ k: 'a', v: '1' }] },
      { 'f:map': { 'k:{"k":"a"}': { 'f:v': {} } } },
      { map: [{ k: 'a' }] },
    ],
    ['what is not there', letters('a'), { 'f:set': { 'v:"b"': {} }, 'f:zz': {} }, letters('a')],
  ])('%s', (_, value, fields, want) => expect(withoutFields(schema, value, readFieldSet(fields))).toEqual(want));
});
