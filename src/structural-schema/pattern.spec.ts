import { MatchingBudget, Pattern } from './pattern.js';

const mismatch = (source: string, text: string) => Pattern.of(source).mismatchOf(text, new MatchingBudget());

it.each([
  '^[a-z]+$',
  '(?i)abc',
  '(?P<name>a)',
  '(?<name>a)',
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
])('pattern %s is valid', (source) => expect(Pattern.of(source).problem).toBeUndefined());

it.each([
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\y', 'invalid escape sequence: `\\y`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  [`${'('.repeat(4000)}${')'.repeat(4000)}`, 'expression nests too deeply'],
  ['x'.repeat(10_001), 'expression too large'],
])('refuses an invalid pattern: row %#', (source, problem) => {
  expect(Pattern.of(source).problem).toMatch(`error parsing regexp: ${problem}`);
});

it.each([
  ['^a+$', 'aaa', undefined],
  ['b', 'abc', undefined],
  ['^.$', '😀', undefined],
  ['^a+$', 'b', "should match '^a+$'"],
  ['(', 'x', "should match '(, but pattern is invalid: error parsing regexp: missing closing ): `(`'"],
])('matches %s with %s', (source, text, want) => expect(mismatch(source, text)).toBe(want));

it('a pattern with exponential backtracking in other engines is matched in linear time', () => {
  expect(mismatch('^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(100_000))).toMatch('should match');
});

it('all texts of an object share one matching budget', () => {
  const budget = new MatchingBudget();
  const pattern = Pattern.of('(a?){400}(a){400}$');
  const text = 'b'.repeat(20_000);
  const answers = Array.from({ length: 10 }, () => pattern.mismatchOf(text, budget));
  expect(answers[0]).toMatch('should match');
  expect(answers[9]).toMatch('is too long to be matched');
});
