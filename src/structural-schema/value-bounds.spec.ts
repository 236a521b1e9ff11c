import type { JsonValue } from '../machinery/kube-object.js';
import { anything, embedded, integer, kind, list, object, text } from '../../test/harness/structural-schemas.js';

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
