import { Pattern } from './pattern.js';

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

it.each<[string, string, [number, number] | undefined]>([
  ['a', 'bab', [1, 2]],
  ['a*', 'baac', [0, 0]],
  ['[0-9]+', 'a1b22', [1, 2]],
  ['x', 'abc', undefined],
  ['^.', '\u{1f600}\u{1f600}', [0, 2]],
])('finds %s in %s', (source, text, match) => {
  const pattern = Pattern.of(source);
  for (let round = 0; round < 3; round++) expect(pattern.test(text)).toBe(match !== undefined);
  const found = pattern.find(text, 0, () => undefined);
  expect(found && [found.start, found.end]).toEqual(match);
});

it('equal sources share a compiled pattern, and unused ones are dropped', () => {
  const shared = Pattern.of('^shared$');
  expect(shared.isCompiled).toBe(false);
  expect(shared.test('shared')).toBe(true);
  for (let index = 0; index < 2000; index++) {
    Pattern.of(`^other-${index}$`);
    expect(Pattern.of('^shared$')).toBe(shared);
  }
  for (let index = 0; index < 10_000; index++) Pattern.of(`^next-${index}$`);
  expect(Pattern.of('^shared$').isCompiled).toBe(false);
});
