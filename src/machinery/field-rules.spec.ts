import { path, type FieldError } from './field-error.js';
import { between, notNegative } from './field-rules.js';
import { int64Max, int64Min, type Int64 } from './int64.js';

const details = (errors: readonly FieldError[]) => errors.map(({ detail }) => detail);

it.each<[Int64 | null | undefined, string[]]>([
  [undefined, []],
  [null, []],
  [1, []],
  [9, []],
  [0, ['Invalid value: 0: must be between 1 and 9, inclusive']],
  [2n ** 53n + 1n, ['Invalid value: 9007199254740993: must be between 1 and 9, inclusive']],
  [int64Min, ['Invalid value: -9223372036854775808: must be between 1 and 9, inclusive']],
])('%s is between 1 and 9, or refused with %p', (value, want) =>
  expect(details(between(value, path('f'), 1, 9))).toEqual(want),
);

it.each<[Int64 | null | undefined, string[]]>([
  [undefined, []],
  [null, []],
  [0, []],
  [int64Max, []],
  [-1, ['Invalid value: -1: must be greater than or equal to 0']],
  [int64Min, ['Invalid value: -9223372036854775808: must be greater than or equal to 0']],
])('%s is not negative, or refused with %p', (value, want) =>
  expect(details(notNegative(value, path('f')))).toEqual(want),
);
