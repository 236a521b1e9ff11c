import { path } from './field-error.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from './int-or-percent.js';

it.each<[number | string | undefined, string[], number]>([
  [undefined, [], 0],
  [0, [], 0],
  [3, [], 3],
  ['25%', [], 25],
  ['100%', [], 100],
  ['101%', ['Invalid value: "101%": must not be greater than 100%'], 101],
  [-1, ['Invalid value: -1: must be greater than or equal to 0'], -1],
  ['x', [expect.stringMatching(/^Invalid value: "x": a valid percent string /) as string], 0],
  ['5', [expect.stringMatching(/^Invalid value: "5": a valid percent string /) as string], 5],
])('%j', (value, want, number) => {
  const at = path('amount');
  const errors = [...validateIntOrPercent(value, at), ...atMostAll(value, at)];
  expect(errors.map(({ detail }) => detail)).toEqual(want);
  expect(intOrPercent(value)).toBe(number);
});
