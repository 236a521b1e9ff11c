import { decodeJson } from '../codec/json.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { texts } from '../../test/harness/strategies.js';
import {
  anything,
  compile,
  embedded,
  integer,
  kind,
  list,
  object,
  text,
} from '../../test/harness/structural-schemas.js';

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
