import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { compileNode } from './compile-node.js';
import { validateValue } from './value.validation.js';

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const listOf = (items: Record<string, unknown>) => compileNode({ type: 'array', items });
const enums = (count: number) => range(count).map((n) => ({ enum: [`a${n}`] }));
const tooMany = /must not have more than 1000000 comparisons of values/;

/** Far above the time needed, and far below that of a quadratic comparison. */
const cpuMsMax = 1500;

describe('cost of validating custom resources', () => {
  test.each([
    ['oneOf', { type: 'string', oneOf: enums(200) }, (n: number) => `a${n % 200}`],
    ['anyOf', { type: 'string', anyOf: enums(200) }, () => 'a199'],
    ['allOf', { type: 'string', allOf: range(200).map(() => ({ minLength: 1 })) }, () => 'a'],
    [
      'nested alternatives',
      { type: 'string', allOf: [{ allOf: [{ allOf: range(200).map(() => ({ minLength: 1 })) }] }] },
      () => 'a',
    ],
    [
      'long lists of required fields',
      { type: 'object', anyOf: [{ required: range(1000).map((n) => `r${n}`) }, {}] },
      () => ({}),
    ],
  ])('comparing 50,000 values with %s is bounded, and more are refused', (_, items, value) => {
    const list = range(50_000).map(value);
    const node = listOf(items);
    let errors: readonly { readonly detail: string }[] = [];
    expect(cpuMsOf(() => (errors = validateValue(list, node)), cpuMsMax)).toBeLessThan(cpuMsMax);
    expect(errors.map(({ detail }) => detail)).toEqual([expect.stringMatching(tooMany)]);
    expect(validateValue(list, node, { old: list.slice(1) })).toHaveLength(1);
  });

  test('50,000 values with fifteen alternatives are accepted', () => {
    const list = range(50_000).map((n) => `a${n % 15}`);
    expect(validateValue(list, listOf({ type: 'string', oneOf: enums(15) }))).toEqual([]);
  });

  test('50,000 objects are compared with an enum of objects in bounded time', () => {
    const values = range(20_000).map((n) => ({ v: n, w: { x: 1 } }));
    const node = listOf({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, enum: values });
    const list = values.map(({ v, w }) => ({ w, v }));
    expect(cpuMsOf(() => expect(validateValue(list, node)).toEqual([]), cpuMsMax)).toBeLessThan(cpuMsMax);
    expect(validateValue([{ v: -1, w: { x: 1 } }], listOf({ type: 'object', enum: [{ v: 1 }] }))).toHaveLength(1);
  });

  test('only the best matching alternative has its errors built', () => {
    const alternatives = range(200).map((n) => ({ properties: { [`p${n}`]: { pattern: `^x${n}$` } } }));
    const node = listOf({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, anyOf: alternatives });
    const all = Object.fromEntries(range(200).map((n) => [`p${n}`, 'y']));
    const list = range(2000).map(() => all);
    let errors: readonly unknown[] = [];
    expect(cpuMsOf(() => (errors = validateValue(list, node)), cpuMsMax)).toBeLessThan(cpuMsMax);
    expect(errors).toHaveLength(1000);
  });

  test('errors do not repeat an enum of 50,000 values', () => {
    const node = listOf({ type: 'string', anyOf: [{ enum: range(50_000).map(String) }, { minLength: 3 }] });
    expect(
      cpuMsOf(() =>
        validateValue(
          range(50_000).map(() => 'no'),
          node,
        ),
      ),
    ).toBeLessThan(cpuMsMax);
  });
});
