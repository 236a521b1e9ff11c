import { environmentOf } from './environment.js';
import { jsonOfValue } from './json-of-value.js';

function jsonOf(text: string): unknown {
  const compiled = environmentOf('new', {}).compile(text);
  if (!compiled.isOk || compiled.program instanceof Error) throw new Error(`${text} does not compile`);
  const outcome = compiled.program.evaluate({}, { costLimit: 1_000_000 });
  if (!outcome.isOk) throw new Error(outcome.error);
  return jsonOfValue(outcome.value);
}

it.each<[string, unknown]>([
  ['[1, 2 + 1, -1]', [1, 3, -1]],
  ['9223372036854775807', 9223372036854775807n],
  ['1.5', 1.5],
  ['7u', 7],
  ["b'ab'", 'YWI='],
  ["timestamp('2026-01-02T03:04:05Z')", '2026-01-02T03:04:05Z'],
  ["duration('90s')", '90s'],
  ["{'a': dyn(null), 'b': dyn([true])}", { a: null, b: [true] }],
  ["[optional.of('a'), optional.none()]", ['a', null]],
])('%s as JSON', (text, want) => expect(jsonOf(text)).toEqual(want));

it('a key named __proto__ is an ordinary key', () => {
  const json = jsonOf("{'__proto__': {'polluted': 'yes'}}") as object;
  expect(Object.keys(json)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
});

it.each([
  ["{1: 'a'}", 'a key of a map is not a string'],
  ["[quantity('1')]", 'is no value of an object'],
])('%s has no JSON', (text, problem) => expect(() => jsonOf(text)).toThrow(problem));
