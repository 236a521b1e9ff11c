import type { JsonValue } from '../machinery/kube-object.js';
import {
  anything,
  compile,
  embedded,
  integer,
  kind,
  list,
  object,
  own,
  text,
} from '../../test/harness/structural-schemas.js';

describe('pruning', () => {
  it.each<[string, object, JsonValue, JsonValue, string[]]>([
    ['keeps known fields', object({ a: text }), { a: 'x' }, { a: 'x' }, []],
    ['reports unknown fields sorted by path', object({}), { z: 1, b: 1 }, {}, ['spec.b', 'spec.z']],
    ['prunes items', list(object({ a: text })), [{ a: 'x', b: 1 }], [{ a: 'x' }], ['spec[0].b']],
    [
      'prunes map values',
      { type: 'object', additionalProperties: object({ a: text }) },
      { k: { b: 1 } },
      { k: {} },
      ['spec.k.b'],
    ],
    [
      'keeps values of additionalProperties: true',
      { type: 'object', additionalProperties: true },
      { k: { b: 1 } },
      { k: {} },
      ['spec.k.b'],
    ],
    ['prunes lists of unknown fields', list(list({})), [[{ b: 1 }]], [[{}]], ['spec[0][0].b']],
    ['kept', object({}, anything), { b: { c: 1 } }, { b: { c: 1 } }, []],
    [
      'keeps unknown fields around known ones',
      object({ a: object({}) }, anything),
      { a: { b: 1 }, c: 1 },
      { a: {}, c: 1 },
      ['spec.a.b'],
    ],
    ['keeps unknown fields in items', { type: 'array', ...anything }, [{ b: 1 }], [{ b: 1 }], []],
    [
      'prunes inside items that keep unknown fields',
      list(object({ a: object({}) }), anything),
      [{ a: { b: 1 }, c: 1 }],
      [{ a: {}, c: 1 }],
      ['spec[0].a.b'],
    ],
    ['keeps unknown fields of the root only', object({}), { metadata: 1, kind: 2 }, {}, ['spec.kind', 'spec.metadata']],
    [
      'prunes embedded objects',
      embedded,
      { kind: 'X', b: 1, metadata: { name: 'n', b: 1 } },
      { kind: 'X', metadata: { name: 'n' } },
      ['spec.b', 'spec.metadata.b'],
    ],
    [
      'prunes __proto__ and constructor',
      object({ a: text }),
      own('__proto__', { x: 1 }, { constructor: 1, a: 'x' }),
      { a: 'x' },
      ['spec.__proto__', 'spec.constructor'],
    ],
  ])('%s', (_what, spec, given, want, unknown) => {
    const told: string[] = [];
    const whole = { kind: 'K', apiVersion: 'g/v1', metadata: { anything: 1 }, spec: given };
    const before = structuredClone(whole);
    const pruned = kind(spec).pruned(whole, (path) => told.push(path));
    expect(pruned).toEqual({ ...whole, spec: want });
    expect(told).toEqual(unknown);
    expect(whole).toEqual(before);
    expect(kind(spec).pruned(pruned)).toBe(pruned);
  });

  it('keeps a known field called __proto__', () => {
    const value = { spec: own('__proto__', { x: 1 }, { b: 1 }) };
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: own('__proto__', { type: 'object' }) } },
    };
    const { spec } = compile(schema).pruned(value) as { spec: object };
    expect(Object.entries(spec)).toEqual([['__proto__', {}]]);
  });

  it.each<[string, JsonValue, string]>([
    ['a kind', { kind: 1 }, 'spec.kind: Invalid value: 1: must be a string'],
    ['metadata', { metadata: 'x' }, 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [
      'labels',
      { metadata: { labels: 'x' } },
      'spec.metadata: Invalid value: {"labels":"x"}: json: cannot unmarshal string into Go struct field ObjectMeta.labels',
    ],
  ])(
    'an embedded object with %s of a wrong type is refused on write and accepted in storage',
    (_what, spec, message) => {
      expect(() => kind(embedded).pruned({ spec })).toThrow(message);
      expect(kind(embedded).refreshed({ spec })).toBeDefined();
    },
  );

  it('reading a stored object keeps the metadata fields of the right type', () => {
    const spec = { kind: 1, apiVersion: 'v1', metadata: { name: 'n', labels: 'x' } };
    expect(kind(embedded).refreshed({ spec })).toEqual({ spec: { apiVersion: 'v1', metadata: { name: 'n' } } });
  });
});

describe('defaulting', () => {
  const port = object({ port: { ...integer, default: 80 }, name: text });
  it.each<[string, object, JsonValue, JsonValue]>([
    ['keeps a present field', port, { port: 1 }, { port: 1 }],
    ['sets an absent field', port, {}, { port: 80 }],
    ['leaves an absent object absent', object({ inner: port }), {}, {}],
    [
      'sets an absent object with a default, and the defaults inside it',
      object({ inner: { ...port, default: {} } }),
      {},
      { inner: { port: 80 } },
    ],
    ['sets defaults inside an empty object', object({ inner: port }), { inner: {} }, { inner: { port: 80 } }],
    ['items', list(port), [{}, { port: 1 }], [{ port: 80 }, { port: 1 }]],
    ['sets defaults in map values', { type: 'object', additionalProperties: port }, { a: {} }, { a: { port: 80 } }],
    ['replaces a null', port, { port: null }, { port: 80 }],
    ['keeps a nullable null', object({ a: { ...text, nullable: true, default: 'x' } }), { a: null }, { a: null }],
    ['removes a null without a default', port, { port: 1, name: null }, { port: 1 }],
    ['removes a null in a map', { type: 'object', additionalProperties: text }, { a: null }, {}],
    ['keeps a null item without a default', list(text), [null], [null]],
    ['replaces a null item', list({ ...text, default: 'x' }), [null], ['x']],
    ['keeps a null of an unknown field', object({}, anything), { a: null }, { a: null }],
    [
      'prunes the default itself',
      object({ inner: { ...object({ a: text }), default: { a: 'x', b: 1 } } }),
      {},
      { inner: { a: 'x' } },
    ],
    [
      'sets false, zero and an empty string',
      object({ a: { type: 'boolean', default: false }, b: { ...integer, default: 0 }, c: { ...text, default: '' } }),
      {},
      { a: false, b: 0, c: '' },
    ],
    ['keeps a value of a wrong type', port, 'x', 'x'],
  ])('%s', (_what, spec, given, want) => {
    const whole = { spec: given };
    const before = structuredClone(whole);
    const filled = kind(spec).filled(whole);
    expect(filled).toEqual({ spec: want });
    expect(whole).toEqual(before);
    expect(kind(spec).filled(filled)).toBe(filled);
  });

  it('objects do not share a default', () => {
    const schema = kind(object({ inner: { ...port, default: {} } }));
    const [first, second] = [schema.filled({ spec: {} }), schema.filled({ spec: {} })] as { spec: { inner: object } }[];
    Object.assign(first!.spec.inner, { port: 1 });
    expect(second).toEqual({ spec: { inner: { port: 80 } } });
  });

  it('defaults that add more than a body may have are refused on write (413) and accepted in storage', () => {
    const schema = kind(list(object({ a: { ...text, default: 'x'.repeat(2_000) } })));
    const spec = Array.from({ length: 2_000 }, () => ({}));
    expect(() => schema.filled({ spec })).toThrow('defaults of the schema add more than 3145728 bytes');
    expect(schema.filled({ spec: spec.slice(0, 1_000) })).toBeDefined();
    expect(schema.refreshed({ spec })).toBeDefined();
  });

  it('defaults inside list defaults that multiply are refused (413)', () => {
    const times = (items: object): object => ({ ...list(items), default: Array.from({ length: 300 }, () => ({})) });
    const inner = object({ c: { ...text, default: 'x' } });
    const multiplied = object({ a: times(object({ a: times(object({ b: times(inner) })) })) });
    expect(() => kind(multiplied).filled({ spec: {} })).toThrow('defaults of the schema add more than 3145728 bytes');
  });

  it.each([
    [object({ a: list(port) }), true],
    [object({ a: list(text) }), false],
  ])('hasDefaults of a schema', (spec, want) => expect(kind(spec).hasDefaults).toBe(want));
});
