import fc from 'fast-check';
import { deepEqual } from './deep-equal.js';
import { distinctValues, repeatedValues, valueKey } from './value-key.js';

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(undefined, 1n, 1, '1', '1;', null, 'null', [], {}, { a: undefined }, { a: null }, -0, 0),
);

describe('valueKey', () => {
  it('is equal exactly for deeply equal values', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        expect(valueKey(a) === valueKey(b)).toBe(deepEqual(a, b));
        expect(valueKey(a)).toBe(valueKey(structuredClone(a)));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    { name: 'order of fields', a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, same: true },
    { name: 'undefined fields', a: { x: 1, y: undefined }, b: { x: 1 }, same: true },
    { name: 'text that looks like a number', a: ['1'], b: [1], same: false },
    { name: 'another nesting of lists', a: [['a'], []], b: [['a', []]], same: false },
    { name: 'strings with another boundary', a: ['ab', 'c'], b: ['a', 'bc'], same: false },
    { name: 'a field name that looks like a value', a: { 'a=s1:b': 1 }, b: { a: 'b' }, same: false },
  ])('$name', ({ a, b, same }) => {
    expect(valueKey(a) === valueKey(b)).toBe(same);
  });

  it('repeatedValues() marks duplicates of earlier values', () => {
    const list = [{ a: 1 }, { a: 2 }, { a: 1 }, 'x', 'x'];
    expect(repeatedValues(list)).toEqual([false, false, true, false, true]);
    expect(distinctValues(list)).toEqual([{ a: 1 }, { a: 2 }, 'x']);
  });
});
