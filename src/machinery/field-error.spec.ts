import { fieldError } from './field-error.js';

it.each<[unknown, string]>([
  ['a "b"', '"a \\"b\\""'],
  [undefined, 'null'],
  [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
  [9007199254740993n, '9007199254740993'],
  [{ generation: -9007199254740993n, b: '1' }, '{"generation":-9007199254740993,"b":"1"}'],
])('shows %p as %s', (value, shown) =>
  expect(fieldError.invalid('f', value, '').detail).toBe(`Invalid value: ${shown}`),
);
