import { int64Max, int64Min, isInt64, nextGeneration, toInt64, type Int64 } from './int64.js';

it.each<[Int64 | undefined, Int64]>([
  [undefined, 1],
  [1, 2],
  [Number.MAX_SAFE_INTEGER, 2n ** 53n],
  [2n ** 53n, 2n ** 53n + 1n],
  [-(2n ** 53n), -Number.MAX_SAFE_INTEGER],
  [int64Max - 1n, int64Max],
  [int64Max, int64Max],
])('the generation after %s is %s', (generation, want) => expect(nextGeneration(generation)).toBe(want));

it.each<[bigint, Int64]>([
  [0n, 0],
  [2n ** 53n - 1n, Number.MAX_SAFE_INTEGER],
  [2n ** 53n, 2n ** 53n],
  [int64Min, int64Min],
])('%s is held as %s', (value, want) => expect(toInt64(value)).toBe(want));

it.each([
  [0, true],
  [-1, true],
  [2n ** 53n, true],
  [1.5, false],
  [2 ** 63, false],
  ['1', false],
  [null, false],
])('%s is an int64: %s', (value, want) => expect(isInt64(value)).toBe(want));
