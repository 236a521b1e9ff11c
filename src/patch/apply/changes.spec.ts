import type { JsonValue } from '../../machinery/kube-object.js';
import { catalog } from '../../../test/harness/managed-objects.js';
import { changesBetween } from './changes.js';
import { pathsOf, pathText, type FieldSet } from './field-set.js';
import { atomicJson, deducedJson, type Schema } from './schema.js';
import { schemaOfJsonSchema, type JsonSchema } from './schema-of-json-schema.js';
import { schemaOfType } from './schema-of-type.js';

const texts = (set: FieldSet) => [...pathsOf(set)].map(pathText).join(' ');
const shown = (schema: Schema, from: unknown, to: unknown, toIsComplete = true) => {
  const { added, modified, removed } = changesBetween({ schema, from, to, toIsComplete });
  return { added: texts(added), modified: texts(modified), removed: texts(removed) };
};
const none = { added: '', modified: '', removed: '' };
const meta = schemaOfType(catalog.struct('meta.v1.ObjectMeta'));
const custom = (properties: Record<string, JsonSchema>) => schemaOfJsonSchema({ type: 'object', properties }, meta);
const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
const map: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: { k: { type: 'string' }, p: { type: 'string', default: 'TCP' }, v: { type: 'string' } },
  },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['p', 'k'],
};
const schema = custom({
  text: { type: 'string', nullable: true },
  plain: { type: 'array', items: { type: 'string' } },
  set,
  map,
  granular: { type: 'object', additionalProperties: { type: 'string' } },
  atomic: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  either: { 'x-kubernetes-int-or-string': true },
});

describe('changes', () => {
  it.each<[string, JsonValue, JsonValue, Partial<typeof none>]>([
    ['none', { text: 'a', set: ['x'] }, { text: 'a', set: ['x'] }, {}],
    ['a new field', {}, { text: 'a' }, { added: '.text' }],
    ['another value', { text: 'a' }, { text: 'b' }, { modified: '.text' }],
    ['gone', { text: 'a' }, {}, { removed: '.text' }],
    ['null is a value', {}, { text: null }, { added: '.text' }],
    ['a value becomes null', { text: 'a' }, { text: null }, { modified: '.text' }],
    ['an atomic list', { plain: ['a'] }, { plain: ['a', 'b'] }, { modified: '.plain' }],
    ['an atomic map', { atomic: { a: '1' } }, { atomic: { a: '2' } }, { modified: '.atomic' }],
    [
      'a granular map',
      { granular: { a: '1', b: '1' } },
      { granular: { a: '2', c: '1' } },
      { added: '.granular.c', modified: '.granular.a', removed: '.granular.b' },
    ],
    ['a new map', {}, { granular: { a: '1' } }, { added: '.granular .granular.a' }],
    ['an empty map', {}, { granular: {} }, { added: '.granular' }],
    ['a map becomes empty', { granular: { a: '1' } }, { granular: {} }, { removed: '.granular.a' }],
    [
      'keys of Object.prototype',
      { granular: {} },
      { granular: { constructor: '1', toString: '1' } },
      { added: '.granular.constructor .granular.toString' },
    ],
    ['a set', { set: ['a', 'b'] }, { set: ['b', 'c'] }, { added: '.set[="c"]', removed: '.set[="a"]' }],
    ['a set in another order', { set: ['a', 'b'] }, { set: ['b', 'a'] }, {}],
    [
      'items of a list map',
      { map: [{ k: 'a', v: '1' }] },
      { map: [{ k: 'a', v: '2' }] },
      { modified: '.map[k="a",p="TCP"].v' },
    ],
    [
      'an omitted key field',
      { map: [{ k: 'a' }] },
      { map: [{ k: 'a', p: 'TCP' }] },
      { added: '.map[k="a",p="TCP"].p' },
    ],
    [
      'another key',
      { map: [{ k: 'a' }] },
      { map: [{ k: 'a', p: 'UDP' }] },
      {
        added: '.map[k="a",p="UDP"] .map[k="a",p="UDP"].k .map[k="a",p="UDP"].p',
        removed: '.map[k="a",p="TCP"] .map[k="a",p="TCP"].k',
      },
    ],
    [
      'a duplicate item',
      { map: [{ k: 'a', v: '1' }] },
      {
        map: [
          { k: 'a', v: '1' },
          { k: 'a', v: '2' },
        ],
      },
      { added: '.map[k="a",p="TCP"]', removed: '.map[k="a",p="TCP"] .map[k="a",p="TCP"].k .map[k="a",p="TCP"].v' },
    ],
    ['another duplicate item', { set: ['a', 'a'] }, { set: ['a'] }, { added: '.set[="a"]', removed: '.set[="a"]' }],
    [
      'unchanged duplicate items',
      { map: [{ k: 'a', v: '1' }, { k: 'a' }] },
      { map: [{ k: 'a', v: '2' }, { k: 'a' }] },
      { modified: '.map[k="a",p="TCP"]' },
    ],
    [
      'anything',
      { any: { a: 1, l: [1] } },
      { any: { a: { b: 1 }, l: [2] } },
      { added: '.any.a.b', modified: '.any.a .any.l' },
    ],
    ['a number becomes a string', { either: '5' }, { either: 5 }, { modified: '.either' }],
  ])('compares %s', (_, from, to, want) => expect(shown(schema, from, to)).toEqual({ ...none, ...want }));

  it.each<[string, JsonValue, JsonValue, Partial<typeof none>]>([
    [
      'fields that Go always writes',
      { spec: { template: { spec: {} } } },
      { spec: { strategy: {}, template: { metadata: {}, spec: { containers: null } } }, status: {} },
      {},
    ],
    ['a value for such a field', {}, { spec: { strategy: { type: 'Recreate' } } }, { added: '.spec.strategy.type' }],
    [
      'removal of such a value',
      { spec: { strategy: { type: 'Recreate' } } },
      { spec: {} },
      { removed: '.spec.strategy.type' },
    ],
    [
      'items of a list that Go always writes',
      {},
      { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
      {
        added:
          '.spec.template.spec.containers[name="a"] .spec.template.spec.containers[name="a"].name .spec.template.spec.containers[name="a"].resources',
      },
    ],
  ])('compares a built-in type: %s', (_, from, to, want) => {
    const deployment = schemaOfType(catalog.kind('apps', 'v1', 'Deployment')!);
    expect(shown(deployment, from, to)).toEqual({ ...none, ...want });
  });

  it.each<[Schema, string]>([
    [deducedJson, '.a .a.b'],
    [atomicJson, ''],
  ])('objects without a schema', (any, added) => {
    expect(shown(any, {}, { a: { b: 1 } })).toMatchObject({ added });
  });

  it('long lists equal short ones', () => {
    const items = Array.from({ length: 50 }, (_, n) => ({ k: `k${n}`, v: '1' }));
    const others = items.map((item, n) => (n === 7 ? { ...item, v: '2' } : item));
    expect(shown(schema, { map: items }, { map: others })).toEqual({ ...none, modified: '.map[k="k7",p="TCP"].v' });
  });

  it.each([{ map: [null] }, { map: ['a'] }, { set: [{}] }])('items without identity are refused: %j', (to) => {
    expect(() => shown(schema, {}, to)).toThrow();
  });
});
