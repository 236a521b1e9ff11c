import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { jsonDiff } from './json-diff.js';

const diff = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

it.each<[string, unknown, unknown, string]>([
  ['equal values', { a: 1 }, { a: 1 }, ''],
  ['a value', { a: 'x' }, { a: 'y' }, diff('@@ -1,3 +1,3 @@', ' {', '- "a": "x"', '+ "a": "y"', ' }')],
  [
    'integers beyond 2^53',
    { a: 2n ** 53n + 1n },
    { a: -(2n ** 63n) },
    diff('@@ -1,3 +1,3 @@', ' {', '- "a": 9007199254740993', '+ "a": -9223372036854775808', ' }'),
  ],
  [
    'three lines around',
    { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 },
    { a: 1, b: 2, c: 3, d: 4, e: 0, f: 6, g: 7, h: 8 },
    diff(
      '@@ -3,7 +3,7 @@',
      '  "b": 2,',
      '  "c": 3,',
      '  "d": 4,',
      '- "e": 5,',
      '+ "e": 0,',
      '  "f": 6,',
      '  "g": 7,',
      '  "h": 8',
    ),
  ],
  [
    'a list that comes',
    { a: null, b: {} },
    { a: ['x'], b: {} },
    diff('@@ -1,4 +1,6 @@', ' {', '- "a": null,', '+ "a": [', '+  "x"', '+ ],', '  "b": {}', ' }'),
  ],
  [
    'the longest run stays',
    { h: { p: 1, t: '' }, g: null, n: null, r: null },
    { h: null, g: null, n: { s: 's' }, r: null },
    diff(
      '@@ -1,9 +1,8 @@',
      ' {',
      '- "h": {',
      '-  "p": 1,',
      '-  "t": ""',
      '+ "h": null,',
      '+ "g": null,',
      '+ "n": {',
      '+  "s": "s"',
      '  },',
      '- "g": null,',
      '- "n": null,',
      '  "r": null',
      ' }',
    ),
  ],
])('%s', (_name, before, after, want) => expect(jsonDiff(before, after)).toBe(want));

it('finds a change at the end of a text of 100,000 characters, and shortens the diff', () => {
  const text = 'a'.repeat(100_000);
  const found = jsonDiff({ a: `${text}b` }, { a: `${text}c` });
  expect(found).toMatch(/^@@ -1,3 \+1,3 @@\n {\n- "a": "aaa/);
  expect(found).toMatch(/… \(shortened, 200\d+ characters\)$/);
});

it('compares 500 long lines that differ at their ends in linear time', () => {
  const lines = (end: string) => Array.from({ length: 490 }, (_, i) => `${'a'.repeat(6000)}${end}${i + 1000}`);
  const [before, after] = [lines('b'), lines('c')];
  expect(cpuMsOf(() => void jsonDiff(before, after), 100)).toBeLessThan(100);
});

it('a diff of more than 250,000 pairs of lines is empty', () => {
  const list = (length: number) => Array.from({ length }, (_, i) => [i]);
  expect(jsonDiff(list(160), list(161))).not.toBe('');
  expect(jsonDiff(list(170), list(171))).toBe('');
});

it('distant changes are separate hunks', () => {
  const lines = Array.from({ length: 20 }, (_, i) => i);
  const text = jsonDiff(
    lines,
    lines.map((i) => (i === 2 || i === 17 ? -1 : i)),
  );
  expect(text.match(/^@@.*@@$/gm)).toEqual(['@@ -1,7 +1,7 @@', '@@ -16,7 +16,7 @@']);
});
