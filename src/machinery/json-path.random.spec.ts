import fc from 'fast-check';
import { parseJsonPath } from './json-path.js';

const pieces = [
  '.',
  '..',
  '.a',
  '.b',
  '[*]',
  '[0]',
  '[-1]',
  '[1:]',
  '[::2]',
  '[0,1]',
  "['a']",
  '[?(@.a==1)]',
  '[?(@.b)]',
];
const odd = ['[', ']', '(', ')', '"', "'", '\\', ',', '@', '$', '?', '=', '<', '!', '*', '{', '}', ' ', '\n', 'x', '1'];
const path = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));
const text = fc.oneof(
  path,
  fc.array(fc.constantFrom(...pieces, ...odd), { maxLength: 24 }).map((parts) => parts.join('')),
  fc.string(),
);
const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 1.5, 'a', '', true, null, 9007199254740993n),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('value')),
  ),
})).value;

it('parses random paths, and finds existing values or nothing', () => {
  fc.assert(
    fc.property(text, data, (given, value) => {
      const before = structuredClone(value);
      const found = parseJsonPath(given)?.find(value);
      expect(found === undefined || Array.isArray(found)).toBe(true);
      expect(value).toEqual(before);
    }),
    { numRuns: 2000 },
  );
});

it('returns the same result on every call', () => {
  fc.assert(
    fc.property(path, data, (given, value) => {
      const parsed = parseJsonPath(given);
      expect(parsed?.find(value)).toEqual(parsed?.find(value));
      expect(parseJsonPath(given)?.find(value)).toEqual(parsed?.find(value));
    }),
  );
});

it.each([
  ['brackets', '['.repeat(9_900)],
  ['filters', '[?('.repeat(3_300)],
  ['filters within filters', `${'[?(@'.repeat(1_900)}${')]'.repeat(1_900)}`],
  ['unions', `[${'0,'.repeat(4_900)}0]`],
  ['escapes', '.' + '\\'.repeat(9_900)],
  ['quotes', `[?(@.a=="${'\\'.repeat(9_901)}")]`],
  ['digits', `[?(@.a==${'1'.repeat(9_900)}..)]`],
  ['operators', `[?(@.a${'='.repeat(9_900)})]`],
])('is fast with many %s', (_, given) => {
  const begun = performance.now();
  parseJsonPath(given)?.find({ a: [{ a: 1 }] });
  expect(performance.now() - begun).toBeLessThan(1000);
});
