import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { decodeJson } from '../codec/json.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { texts } from '../../test/harness/strategies.js';
import { compileSchema } from './value-schema.js';

const objectMeta = new Catalog(namingProfile('kubernetes')).struct('meta.v1.ObjectMeta');
const compile = (schema: object) => compileSchema(schema as Record<string, unknown>, { objectMeta });
/** Compiles the schema of a kind with this schema of spec. */
const kind = (spec: object) => compile({ type: 'object', properties: { spec } });

const own = (key: string, value: JsonValue, rest: object = {}) =>
  Object.fromEntries<JsonValue>([[key, value], ...Object.entries(rest)]);
const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const text = { type: 'string' };
const integer = { type: 'integer' };
const list = (items: object, rest: object = {}) => ({ type: 'array', items, ...rest });
const embedded = object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true });

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

describe('validation errors', () => {
  it.each<[string, object, JsonValue, string[]]>([
    [
      'a string for an integer',
      object({ n: integer }),
      { n: 'x' },
      ['spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"'],
    ],
    ['a missing required field', object({ must: text }, { required: ['must'] }), {}, ['spec.must: Required value']],
    [
      'a boolean for a string',
      object({ must: text }),
      { must: true },
      ['spec.must: Invalid value: "boolean": spec.must in body must be of type string: "boolean"'],
    ],
    [
      'several',
      object({ a: text, b: integer }),
      { a: 1, b: 'x' },
      [expect.stringContaining('spec.a'), expect.stringContaining('spec.b')],
    ],
    [
      'a null item',
      list(text),
      [null],
      ['spec[0]: Invalid value: "null": spec[0] in body must be of type string: "null"'],
    ],
    [
      'null in an enum',
      { ...text, enum: ['a'] },
      null,
      [
        'spec: Invalid value: "null": spec in body must be of type string: "null"',
        'spec: Unsupported value: null: supported values: "a"',
      ],
    ],
    ['a nullable null', { ...text, nullable: true }, null, []],
    [
      'a value outside of an enum',
      { enum: ['a', 1, { b: 1 }] },
      'c',
      ['spec: Unsupported value: "c": supported values: "a", "1", "{\\"b\\":1}"'],
    ],
    ['an object in an enum', { enum: ['a', { b: 1, c: 2 }] }, { c: 2, b: 1 }, []],
    [
      'a number beyond int64',
      integer,
      1e20,
      [
        'spec: Invalid value: "number": spec in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
      ],
    ],
    [
      'a number beyond int32',
      { ...integer, format: 'int32' },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec'],
    ],
    [
      'a number beyond int64 with format int64',
      { ...integer, format: 'int64' },
      1e19,
      [
        'spec: Invalid value: "float64": spec in body must be of type int64: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec',
      ],
    ],
    [
      'a number beyond float32',
      { type: 'number', format: 'float' },
      1e39,
      ['<nil>: Invalid value: "": Checked value must be of type number with format float in spec'],
    ],
    ['the largest int32', { ...integer, format: 'int32' }, 2 ** 31 - 1, []],
    [
      'a fractional maximum of an integer',
      { ...integer, maximum: 4.5 },
      1,
      ['<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in spec'],
    ],
    [
      'a fraction for int-or-string with anyOf',
      { 'x-kubernetes-int-or-string': true, anyOf: [integer, text] },
      1.2,
      [
        'spec: Invalid value: "number": spec in body must be of type integer,string: "number"',
        '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
        'spec: Invalid value: "number": spec in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
      ],
    ],
    ['an integer for a number', { type: 'number' }, 5, []],
    [
      'an integer beyond 2^53',
      { ...integer, maximum: 10 },
      decodeJson('9007199254740993'),
      ['spec: Invalid value: 9007199254740993: spec in body should be less than or equal to 10'],
    ],
    ['a multiple of a fraction', { type: 'number', multipleOf: 0.1 }, 0.3, []],
    [
      'not a multiple of a fraction',
      { type: 'number', multipleOf: 0.1 },
      0.35,
      ['spec: Invalid value: 0.35: spec in body should be a multiple of 0.1'],
    ],
    [
      'below',
      { ...integer, minimum: 1, exclusiveMinimum: true },
      1,
      ['spec: Invalid value: 1: spec in body should be greater than 1'],
    ],
    [
      'a string that does not match its pattern',
      { ...text, pattern: '^a+$' },
      'b',
      ['spec: Invalid value: "b": spec in body should match \'^a+$\''],
    ],
    ['a string that matches its pattern', { ...text, pattern: 'a' }, 'bab', []],
    [
      'only the first violated bound of a string',
      { ...text, minLength: 2, pattern: '^a+$' },
      'b',
      ['spec: Invalid value: "b": spec in body should be at least 2 chars long'],
    ],
    [
      'an invalid date',
      { ...text, format: 'date' },
      'x',
      ['spec: Invalid value: "x": spec in body must be of type date: "x"'],
    ],
    [
      'a number for a date',
      { ...text, format: 'date' },
      5,
      ['spec: Invalid value: "int64": spec in body must be of type date: "int64"'],
    ],
    [
      'an object for an int32',
      { ...integer, format: 'int32' },
      {},
      ['spec: Invalid value: "": spec in body must be of type int32: ""'],
    ],
    ['an unknown format', { ...text, format: 'colour' }, 'x', []],
    [
      'too few items',
      list(text, { minItems: 1 }),
      [],
      ['spec: Invalid value: 0: spec in body should have at least 1 items'],
    ],
    [
      'too few fields',
      { type: 'object', minProperties: 1, additionalProperties: text },
      {},
      ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
    ],
    [
      'too many fields',
      { type: 'object', maxProperties: 1, additionalProperties: text },
      { a: 'x', b: 1 },
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'a forbidden additional property',
      object({}, { additionalProperties: false }),
      { a: 1 },
      ['spec: Invalid value: "a": spec.a in body is a forbidden property'],
    ],
    [
      'twins',
      list(integer, { uniqueItems: true }),
      [1, 2, 1],
      ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
    ],
    [
      'a fraction for int-or-string',
      { 'x-kubernetes-int-or-string': true },
      1.5,
      [expect.stringContaining('must be of type integer,string: "number"')],
    ],
    [
      'neither',
      object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      {},
      [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        'spec.a: Required value',
      ],
    ],
    [
      'both',
      object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      { a: 'x', b: 'x' },
      ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'anyOf: errors of the best alternative',
      object(
        { a: object({ x: text, y: text }) },
        {
          anyOf: [
            { required: ['b', 'c'] },
            { properties: { a: { properties: { x: { enum: ['1'] }, y: { enum: ['2'] } } } } },
          ],
        },
      ),
      { a: { x: '1', y: '3' } },
      [
        '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
        'spec.a.y: Unsupported value: "3": supported values: "2"',
      ],
    ],
    [
      'allOf: one violated',
      { ...integer, allOf: [{ minimum: 1 }, { maximum: 3 }] },
      5,
      [
        'spec: Invalid value: 5: spec in body should be less than or equal to 3',
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
      ],
    ],
    [
      'allOf: all violated',
      { ...integer, allOf: [{ minimum: 7 }, { multipleOf: 2 }] },
      5,
      [
        expect.any(String),
        expect.any(String),
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      'not: violated',
      { ...integer, not: { minimum: 3 } },
      5,
      ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
    ],
  ])('%s', (_what, spec, value, want) => expect(texts(kind(spec).validate({ spec: value }))).toEqual(want));

  it('metadata.name may be narrowed by a pattern and maxLength', () => {
    const name = { ...text, pattern: '^x-', maxLength: 5 };
    const schema = compile(object({ metadata: object({ name }) }));
    expect(texts(schema.validate({ metadata: { name: 'a', labels: { a: 'b' } } }))).toEqual([
      'metadata.name: Invalid value: "a": metadata.name in body should match \'^x-\'',
    ]);
  });

  const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  const item = object({ k: text, p: text, v: text });
  it.each<[string, object, JsonValue, string[]]>([
    ['a set without any', list(text, { 'x-kubernetes-list-type': 'set' }), ['a', 'b'], []],
    [
      'reported once',
      list(text, { 'x-kubernetes-list-type': 'set' }),
      ['a', 'b', 'a', 'a'],
      ['spec[2]: Duplicate value: "a"'],
    ],
    ['numbers and strings differ', list(anything, { 'x-kubernetes-list-type': 'set' }), [1, '1', null, 'null'], []],
    [
      'equal objects',
      list(anything, { 'x-kubernetes-list-type': 'set' }),
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      ['spec[1]: Duplicate value: {"a":1,"b":[2]}'],
    ],
    [
      'one key',
      list(item, keys),
      [
        { k: 'a', v: '1' },
        { k: 'a', v: '2' },
      ],
      ['spec[1]: Duplicate value: {"k":"a"}'],
    ],
    ['a missing key', list(item, keys), [{ v: '1' }, { v: '2' }], ['spec[1]: Duplicate value: {}']],
    [
      'two keys',
      list(item, { ...keys, 'x-kubernetes-list-map-keys': ['k', 'p'] }),
      [{ k: 'a', p: 'x' }, { k: 'a' }, { k: 'a', p: 'x' }],
      ['spec[2]: Duplicate value: {"k":"a","p":"x"}'],
    ],
    [
      'items that are not objects',
      list(anything, keys),
      [1, 1],
      ['spec[0]: Invalid value: 1: must be an object for an array of list-type map'],
    ],
    [
      'a set inside a map',
      { type: 'object', additionalProperties: list(text, { 'x-kubernetes-list-type': 'set' }) },
      { a: ['x', 'x'] },
      ['spec[a][1]: Duplicate value: "x"'],
    ],
    [
      'a set inside a list',
      list(object({ s: list(text, { 'x-kubernetes-list-type': 'set' }) })),
      [{ s: ['x', 'x'] }],
      ['spec[0].s[1]: Duplicate value: "x"'],
    ],
  ])('duplicate items: %s', (_what, spec, value, want) => {
    expect(texts(kind(spec).validate({ spec: value }))).toEqual(want);
  });

  it.each<[string, JsonValue, string[]]>([
    ['whole', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }, []],
    ['without a name', { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'x' } }, []],
    ['without apiVersion and kind', {}, ['spec.apiVersion: Required value', 'spec.kind: Required value']],
    [
      'with empty apiVersion and kind',
      { apiVersion: '', kind: '' },
      ['spec.apiVersion: Invalid value: "": must not be empty', 'spec.kind: Invalid value: "": must not be empty'],
    ],
    [
      'with an invalid apiVersion',
      { apiVersion: 'a/b/c', kind: 'X' },
      ['spec.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      'with an invalid kind',
      { apiVersion: 'v1', kind: 'a b' },
      [expect.stringContaining('may have mixed case, but should otherwise match')],
    ],
    [
      'with invalid labels',
      { apiVersion: 'v1', kind: 'X', metadata: { labels: { 'a b': 'c' } } },
      [expect.stringContaining('spec.metadata.labels: Invalid value: "a b"')],
    ],
    [
      'with a slash in its name',
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'a/b' } },
      [expect.stringContaining('spec.metadata.name: Invalid value: "a/b": may not contain \'/\'')],
    ],
  ])('validates an embedded object %s', (_what, spec, want) =>
    expect(texts(kind(embedded).validate({ spec }))).toEqual(want),
  );

  it('embedded objects in lists and maps are validated', () => {
    const inner = object({ list: list(embedded), map: { type: 'object', additionalProperties: embedded } });
    const spec = { list: [{ kind: 'A' }], map: { k: { apiVersion: 'v1' } } };
    expect(texts(kind(inner).validate({ spec }))).toEqual([
      'spec.list[0].apiVersion: Required value',
      'spec.map[k].kind: Required value',
    ]);
  });
});

describe('validateUpdate', () => {
  const short = { ...text, maxLength: 2 };
  const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  it.each<[string, object, JsonValue, JsonValue, string[]]>([
    [
      'accepts an unchanged invalid field',
      object({ a: short, b: text }),
      { a: 'long', b: 'x' },
      { a: 'long', b: 'y' },
      [],
    ],
    ['refuses another invalid value of the field', object({ a: short }), { a: 'long' }, { a: 'longer' }, ['spec.a']],
    ['refuses a new invalid field', object({ a: short }), {}, { a: 'long' }, ['spec.a']],
    [
      'accepts a required field that was missing in an unchanged object',
      object({ a: text, b: text }, { required: ['a'] }),
      { b: 'x' },
      { b: 'x' },
      [],
    ],
    [
      'refuses a missing required field of a changed object',
      object({ a: text, b: text }, { required: ['a'] }),
      { b: 'x' },
      { b: 'y' },
      ['spec.a'],
    ],
    ['accepts an unchanged invalid item at the same index', list(short), ['long', 'a'], ['long', 'b'], []],
    ['refuses an unchanged invalid item at another index', list(short), ['long'], ['a', 'long'], ['spec[1]']],
    [
      'accepts an unchanged invalid item with the same key',
      list(object({ k: text, v: short }), keyed),
      [{ k: 'a', v: 'long' }],
      [
        { k: 'b', v: 'x' },
        { k: 'a', v: 'long' },
      ],
      [],
    ],
    [
      'refuses an unchanged invalid item of a changed set',
      list(short, { 'x-kubernetes-list-type': 'set' }),
      ['long', 'a'],
      ['long', 'b'],
      ['spec[0]'],
    ],
    ['accepts an unchanged invalid set', list(short, { 'x-kubernetes-list-type': 'set' }), ['long'], ['long'], []],
    [
      'accepts an unchanged invalid map value',
      { type: 'object', additionalProperties: short },
      { a: 'long' },
      { a: 'long', b: 'x' },
      [],
    ],
    [
      'accepts an unchanged field that matches no alternative',
      object({ a: { ...text, anyOf: [{ maxLength: 2 }, { pattern: '^x' }] }, b: text }),
      { a: 'long' },
      { a: 'long', b: 'x' },
      [],
    ],
    [
      'accepts an unchanged field that violates a part of allOf',
      object(
        { a: object({ b: text, c: text }), d: text },
        { allOf: [{ properties: { a: { properties: { b: { maxLength: 2 } } } } }] },
      ),
      { a: { b: 'long', c: 'x' } },
      { a: { b: 'long', c: 'y' } },
      [],
    ],
    [
      'accepts a valid object, whatever alternatives the old one matched',
      object({ a: text, b: text }, { not: { properties: { a: { maxLength: 2 } } } }),
      { a: 'long', b: 'x' },
      { a: 'long', b: 'y' },
      [],
    ],
    ['accepts unchanged duplicates', list(text, { 'x-kubernetes-list-type': 'set' }), ['a', 'a'], ['a', 'a', 'b'], []],
    ['refuses new duplicates', list(text, { 'x-kubernetes-list-type': 'set' }), ['a'], ['a', 'a'], ['spec[1]']],
  ])('%s', (_what, spec, old, value, want) => {
    const errors = kind(spec).validateUpdate({ spec: value, metadata: { a: 2 } }, { spec: old, metadata: { a: 1 } });
    expect(errors.map(({ field }) => field)).toEqual(want);
  });
});

describe('validateStatusUpdate', () => {
  const schema = compile(object({ spec: object({ a: integer }), status: object({ n: integer, m: integer }) }));
  it.each<[string, JsonValue, JsonValue, string[]]>([
    [
      'validates the status only',
      { spec: { a: 'x' }, status: { n: 'x' } },
      {},
      ['status.n: Invalid value: "string": n in body must be of type integer: "string"'],
    ],
    ['none', { spec: { a: 'x' } }, { status: { n: 'x' } }, []],
    ['accepts an unchanged invalid status', { status: { n: 'x', m: 1 } }, { status: { n: 'x' } }, []],
    [
      'refuses another invalid status',
      { status: 5 },
      {},
      ['status: Invalid value: "integer":  in body must be of type object: "integer"'],
    ],
  ])('%s', (_what, value, old, want) => expect(texts(schema.validateStatusUpdate(value, old))).toEqual(want));
});

describe('bounds on validation', () => {
  it('errors of long lists are bounded, and so is the time', () => {
    const schema = kind(list({ ...integer, maximum: 1 }, { 'x-kubernetes-list-type': 'set' }));
    const spec = Array.from({ length: 200_000 }, (_, index) => index % 150_000);
    expect(schema.validate({ spec })).toHaveLength(2000);
    expect(schema.validateUpdate({ spec, a: 1 }, { spec })).toEqual([]);
  });

  it('errors with long field names are bounded', () => {
    const schema = kind({ type: 'object', additionalProperties: object({ a: integer }, { required: ['a'] }) });
    const lengthOf = (errors: readonly { field: string; detail: string }[]) =>
      errors.reduce((sum, { field, detail }) => sum + field.length + detail.length, 0);
    const inner = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 0]));
    const spec = { ['n'.repeat(1_000_000)]: inner };
    const unknown: string[] = [];
    schema.pruned({ spec }, (path) => unknown.push(path));
    expect(unknown.length).toBeGreaterThan(0);
    expect(unknown.join('').length).toBeLessThan(20_000_000);
    const nested = kind({ type: 'object', additionalProperties: { type: 'object', additionalProperties: text } });
    const errors = nested.validate({ spec });
    expect(errors.length).toBeGreaterThan(0);
    expect(lengthOf(errors)).toBeLessThan(50_000_000);
    const before = { ['n'.repeat(20_000)]: inner };
    expect(nested.validateUpdate({ spec: { ...before, b: { c: 1 } } }, { spec: before })).toHaveLength(1);
    // Too many errors to tell old ones from new ones: building all paths would take seconds.
    const began = process.cpuUsage();
    const refused = nested.validateUpdate({ spec: { ...spec, b: { c: 1 } } }, { spec });
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
    expect(refused.length).toBeGreaterThan(0);
    expect(lengthOf(refused)).toBeLessThan(50_000_000);
  });

  it('errors of embedded objects are bounded', () => {
    const schema = kind(list(embedded));
    expect(schema.validate({ spec: Array.from({ length: 100_000 }, () => ({})) }).length).toBeLessThan(2500);
    const lists = kind(
      list(list(object({}), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] })),
    );
    const spec = Array.from({ length: 100_000 }, () => [1]);
    expect(lists.validate({ spec }).length).toBeLessThan(2500);
  });

  it('recursion is as deep as the schema, not the value', () => {
    let value: JsonValue = 'x';
    for (let depth = 0; depth < 1000; depth++) value = { a: [value] };
    const whole = { spec: value };
    const open = kind({ type: 'object', ...anything });
    expect(open.filled(open.pruned(whole))).toBe(whole);
    expect(open.validate(whole)).toEqual([]);
    expect(kind(object({})).pruned(whole)).toEqual({ spec: {} });
    let lists: JsonValue = [];
    for (let depth = 0; depth < 1000; depth++) lists = [lists];
    expect(kind(list({})).pruned({ spec: lists })).toEqual({ spec: lists });
  });
});
