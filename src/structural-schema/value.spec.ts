import type { JsonValue } from '../machinery/kube-object.js';
import { texts } from '../../test/harness/strategies.js';
import { compileNode } from './compile-node.js';
import { findField } from './field-path.js';
import { pruned } from './prune.js';
import { validateValue } from './value.validation.js';

const node = (schema: object) => compileNode(schema as Record<string, unknown>);
const check = (value: JsonValue, schema: object) => texts(validateValue(value, node(schema), { at: 'v' }));

it.each<[JsonValue, object, string[]]>([
  [1, { type: 'number' }, []],
  [
    1.5,
    { type: 'integer' },
    [
      'v: Invalid value: "number":  in body must be of type integer: "number"',
      'v: Invalid value: "": Checked value must be of type integer (default format) in ',
    ],
  ],
  [null, { type: 'string' }, ['v: Invalid value: "null":  in body must be of type string: "null"']],
  [null, { type: 'string', nullable: true }, []],
  ['x', { 'x-kubernetes-int-or-string': true }, []],
  [
    true,
    { 'x-kubernetes-int-or-string': true },
    ['v: Invalid value: "boolean":  in body must be of type integer,string: "boolean"'],
  ],
  [5, { type: 'integer', maximum: 4 }, ['v: Invalid value: 5:  in body should be less than or equal to 4']],
  [4, { type: 'integer', maximum: 4, exclusiveMaximum: true }, ['v: Invalid value: 4:  in body should be less than 4']],
  [3, { type: 'integer', minimum: 4 }, ['v: Invalid value: 3:  in body should be greater than or equal to 4']],
  [2n ** 53n + 2n, { type: 'integer', multipleOf: 2 }, []],
  [
    2n ** 53n + 1n,
    { type: 'integer', multipleOf: 2 },
    ['v: Invalid value: 9007199254740993:  in body should be a multiple of 2'],
  ],
  [
    10_000_000_001,
    { type: 'integer', multipleOf: 2 },
    ['v: Invalid value: 10000000001:  in body should be a multiple of 2'],
  ],
  [-(2n ** 63n), { type: 'integer' }, []],
  [
    5,
    { type: 'integer', minimum: -(2n ** 63n) },
    ['v: Invalid value: "": Minimum boundary value must be of type integer (default format) in '],
  ],
  [5, { type: 'integer', multipleOf: 2 }, ['v: Invalid value: 5:  in body should be a multiple of 2']],
  ['äö', { type: 'string', maxLength: 2 }, []],
  ['abc', { type: 'string', maxLength: 2 }, ['v: Too long: may not be more than 2 bytes']],
  ['a', { type: 'string', minLength: 2 }, ['v: Invalid value: "a":  in body should be at least 2 chars long']],
  ['a', { type: 'string', format: 'date' }, ['v: Invalid value: "a":  in body must be of type date: "a"']],
  [[1, 2], { type: 'array', maxItems: 1 }, ['v: Too many: 2: must have at most 1 item']],
  [{ a: 1 }, { type: 'object', required: ['b'] }, ['v.b: Required value']],
  [
    { a: [{ b: 1 }] },
    { type: 'object', properties: { a: { type: 'array', items: { properties: { b: { type: 'string' } } } } } },
    ['v.a[0].b: Invalid value: "integer": a[0].b in body must be of type string: "integer"'],
  ],
  [{ x: 1 }, { type: 'object', additionalProperties: { type: 'string' } }, [expect.stringContaining('v.x: Invalid')]],
  [
    5,
    { anyOf: [{ minimum: 6 }, { maximum: 4 }] },
    [
      'v: Invalid value: "": "" must validate at least one schema (anyOf)',
      'v: Invalid value: 5:  in body should be greater than or equal to 6',
    ],
  ],
  [5, { oneOf: [{ minimum: 4 }, { maximum: 6 }] }, [expect.stringContaining('Found 2 valid alternatives')]],
  [5, { not: { minimum: 4 } }, ['v: Invalid value: "": "" must not validate the schema (not)']],
])('validates %p by %p', (value, schema, want) => expect(check(value, schema)).toEqual(want));

it.each<[JsonValue, object, unknown]>([
  [{ a: 1, b: 2 }, { properties: { a: {} } }, { a: 1 }],
  [{ a: { b: 1 } }, { properties: { a: { 'x-kubernetes-preserve-unknown-fields': true } } }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, { additionalProperties: { properties: {} } }, { a: {} }],
  [{ a: { b: 1 } }, { additionalProperties: true }, { a: {} }],
  [[{ a: 1, b: 2 }], { items: { properties: { b: {} } } }, [{ b: 2 }]],
  [{ kind: 'X', z: 1 }, { 'x-kubernetes-embedded-resource': true }, { kind: 'X' }],
])('prunes %j by %j', (value, schema, want) => expect(pruned(value, node(schema))).toEqual(want));

const schema = {
  properties: {
    spec: { properties: { color: { type: 'string' }, 'a.b': { type: 'integer' } } },
    map: { additionalProperties: {} },
  },
};
it.each<[string, object]>([
  ['.spec.color', { names: ['spec', 'color'] }],
  ["['spec']['a.b']", { names: ['spec', 'a.b'] }],
  ['.map.any', { names: ['map', 'any'] }],
  ['.spec.size', { problem: 'does not refer to a valid field' }],
  ['spec', { problem: 'expected [ or . but got: spec' }],
  ['.spec.', { problem: 'unexpected end of JSON path' }],
  ['.spec[0]', { problem: 'expected single quoted string but got 0' }],
])('findField resolves or refuses %s', (text, want) => expect(findField(text, schema)).toMatchObject(want));

it('a path with a long open quote is refused in bounded time', () => {
  const open = `.spec['${"\\'".repeat(100_000)}`;
  expect(findField(open, schema)).toEqual({ problem: `expected single quoted string but got ${open.slice(6)}` });
});
