import { goRegexpProblem } from './go-regexp.js';

it.each([
  '^[a-z]+$',
  '(?i)abc',
  '(?P<name>a)',
  '\\Aabc\\z',
  '[[:alpha:]]+',
  '[]a]',
  '[^]a]',
  'a{,3}',
  'a{2,3}',
  '\\Q(a\\E',
  '\\x{1F600}',
  '\\pL\\p{Greek}',
  'a\\-b\\_',
  '[\\w.-]',
  '}',
])('%s is one', (pattern) => expect(goRegexpProblem(pattern)).toBeUndefined());

it.each([
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<!a)b', 'invalid or unsupported Perl syntax: `(?<!`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\y', 'invalid escape sequence: `\\y`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
])('%s is none', (pattern, problem) => expect(goRegexpProblem(pattern)).toBe(`error parsing regexp: ${problem}`));

it('long ones take no long time', () => expect(goRegexpProblem('[a]'.repeat(100_000))).toBeUndefined());
