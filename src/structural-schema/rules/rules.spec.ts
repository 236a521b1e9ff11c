import { path, type FieldError } from '../../machinery/field-error.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import type { Fields } from '../../machinery/fields.js';
import { atOnce } from '../../std/steps.js';
import { leniencyOf, strict } from '../leniency.js';
import { validateSchema } from '../schema.validation.js';
import { ObjectRules } from './object-rules.js';

const texts = (errors: readonly FieldError[]) => errors.map(({ field, detail }) => `${field}: ${detail}`);
const schemaWith = (spec: Fields): Fields => ({ type: 'object', properties: { spec } });

describe('validateSchema', () => {
  const errorsOf = (schema: Fields, stored?: Fields) =>
    texts(
      atOnce(
        validateSchema(schema, path('schema'), {
          isStatusApart: false,
          leniency: stored ? leniencyOf(stored, []) : strict,
        }),
      ),
    );
  const costly = schemaWith({
    type: 'array',
    maxItems: 5000,
    items: { type: 'integer' },
    'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists(y, x == y))' }],
  });

  it('ignores the cost of the rules of an unchanged schema, but not their sum', () => {
    const [first, ...more] = errorsOf(costly);
    expect(first).toMatch(
      /^schema.properties\[spec\].x-kubernetes-validations\[0\].rule: Forbidden: estimated rule cost/,
    );
    expect(errorsOf(costly, costly)).toEqual(more);
    expect(errorsOf({ ...costly, description: 'changed' }, costly)).toEqual([first, ...more]);
  });

  it('multiplies the cost of a rule by the bounds of the lists and maps around it', () => {
    const nested = (maxItems: object) =>
      schemaWith({
        type: 'array',
        ...maxItems,
        items: {
          type: 'object',
          maxProperties: 10,
          additionalProperties: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] },
        },
      });
    expect(errorsOf(nested({ maxItems: 10 }))).toEqual([]);
    expect(errorsOf(nested({ maxItems: 2_000_000 }))).toEqual([
      expect.stringContaining('estimated rule cost exceeds budget by factor of'),
    ]);
  });

  it('does not compile rules around an invalid schema', () => {
    const rules = { 'x-kubernetes-validations': [{ rule: 'nope' }] };
    const inner = { type: 'integer', default: 'x' };
    expect(errorsOf(schemaWith({ type: 'object', ...rules, properties: { a: inner } }))).toEqual([
      expect.stringContaining('properties[a].default: Invalid value: "string"'),
    ]);
    const beside = { ...inner, default: 1 };
    expect(errorsOf(schemaWith({ type: 'object', ...rules, properties: { a: beside } }))).toEqual([
      expect.stringContaining("undeclared reference to 'nope'"),
    ]);
  });
});

describe('ObjectRules', () => {
  const check = (spec: Fields, value: JsonValue, old?: JsonValue) => {
    const warnings: string[] = [];
    const rules = new ObjectRules(schemaWith(spec));
    const errors = atOnce(rules.validate({ spec: value }, old === undefined ? undefined : { spec: old }, [], warnings));
    return { errors: texts(errors), warnings };
  };
  const positive = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] };

  it.each<[string, Fields, JsonValue, JsonValue, string[], string[]]>([
    [
      'an unchanged item of a keyed list',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' }, v: positive } },
      },
      [
        { k: 'b', v: 2 },
        { k: 'a', v: -1 },
        { k: 'c', v: -2 },
      ],
      [{ k: 'a', v: -1 }],
      ['spec[2].v: Invalid value: -2: failed rule: self > 0'],
      ['spec[1].v: Invalid value: -1: failed rule: self > 0'],
    ],
    [
      'an item of a changed atomic list',
      { type: 'array', items: positive },
      [-1, 2],
      [-1],
      ['spec[0]: Invalid value: -1: failed rule: self > 0'],
      [],
    ],
    [
      'an item of an unchanged atomic list',
      { type: 'array', items: positive },
      [-1],
      [-1],
      [],
      ['spec[0]: Invalid value: -1: failed rule: self > 0'],
    ],
    [
      'a field of a changed atomic map',
      { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: positive, b: { type: 'integer' } } },
      { a: -1, b: 2 },
      { a: -1 },
      ['spec.a: Invalid value: -1: failed rule: self > 0'],
      [],
    ],
  ])('ignores an error only in parts that have not changed: %s', (_title, spec, value, old, errors, warnings) => {
    expect(check(spec, value, old)).toEqual({ errors, warnings });
  });

  it('ends when the costs of all rules reach the limit of an object', () => {
    const item = { type: 'integer', 'x-kubernetes-validations': [{ rule: '[1,2,3,4,5,6,7,8,9].all(x, x != self)' }] };
    const { errors } = check(
      { type: 'array', items: item },
      Array.from({ length: 300_000 }, () => 0),
    );
    expect(errors).toEqual([
      expect.stringMatching(
        /^spec\[\d+\]: Invalid value: "integer": validation failed due to running out of cost budget, no further/,
      ),
    ]);
  });

  it('yields between rules that cost little for their work, and ends when that reaches the limit of an object', () => {
    const rule = "lists.range(2000).all(i, url('http://a/').getHost() == 'a')";
    const item = { type: 'string', 'x-kubernetes-validations': [{ rule }] };
    const texts = Array.from({ length: 100 }, () => 'a');
    const rules = new ObjectRules(schemaWith({ type: 'array', items: item }));
    const steps = rules.validate({ spec: texts }, undefined, [], undefined);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect(count).toBeGreaterThan(20);
    expect(step.value).toEqual([
      expect.objectContaining({ detail: expect.stringContaining('no further validation rules will be run') }),
    ]);
  });

  it('yields between the rules of many items', () => {
    const steps = new ObjectRules(schemaWith({ type: 'array', items: positive })).validate(
      { spec: Array.from({ length: 50_000 }, () => 1) },
      undefined,
      [],
      undefined,
    );
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThan(20);
  });

  it('reads a messageExpression only if it returns one line', () => {
    const rule = (messageExpression: string) => ({
      type: 'integer',
      'x-kubernetes-validations': [{ rule: 'self > 0', message: 'wrong', messageExpression }],
    });
    const messageOf = (expression: string) => check(rule(expression), 0).errors;
    expect(messageOf("' a b '")).toEqual(['spec: Invalid value: 0: a b']);
    expect(messageOf("'a\\nb'")).toEqual(['spec: Invalid value: 0: wrong']);
    expect(messageOf('string(1 / self)')).toEqual(['spec: Invalid value: 0: wrong']);
  });
});
