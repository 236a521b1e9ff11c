import type { JsonValue } from '../machinery/kube-object.js';
import { texts } from '../../test/harness/strategies.js';
import { compile, integer, kind, list, object, text } from '../../test/harness/structural-schemas.js';

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
