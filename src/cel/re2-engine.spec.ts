import type { Regex } from './libraries/regex.js';
import { re2Engine } from './re2-engine.js';

/** An emoji between halves of one. */
const [high, low] = ['\ud83d', '\ude00'];
const halves = `${high}\u{1f600}${low}`;

it.each<[string, string, string[]]>([
  ['a', 'bab', ['a']],
  ['aa', 'aaaaa', ['aa', 'aa']],
  ['', 'ab', ['', '', '']],
  ['a*', 'baac', ['', 'aa', '']],
  ['[0-9]+', 'a1b22', ['1', '22']],
  ['x', 'abc', []],
  ['x', '', []],
  ['.*z|a', 'aaza', ['aaz', 'a']],
  ['^.', '\u{1f600}\u{1f600}', ['\u{1f600}']],
  ['', '\u{1f600}', ['', '']],
  ['\u{1f600}', halves, ['\u{1f600}']],
  ['.', halves, [high, '\u{1f600}', low]],
  ['a{20}', 'a'.repeat(200_000), Array<string>(10_000).fill('a'.repeat(20))],
])('finds %s in %.20s', (source, text, all) => {
  const regex = re2Engine().compile(source) as Regex;
  for (let round = 0; round < 3; round++) expect(regex.test(text)).toBe(all.length > 0);
  expect(regex.find(text)).toBe(all[0] ?? '');
  for (const max of [-1, 0, 1, 2]) expect(regex.findAll(text, max)).toEqual(max < 0 ? all : all.slice(0, max));
});
