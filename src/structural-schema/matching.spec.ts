import { Pattern } from '../regex/pattern.js';
import { MatchingBudget, mismatchOf } from './matching.js';

const mismatch = (source: string, text: string) => mismatchOf(Pattern.of(source), text, new MatchingBudget());

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
  const text = 'b'.repeat(2_000);
  const answers = Array.from({ length: 10 }, () => mismatchOf(pattern, text, budget));
  expect(answers[0]).toMatch('should match');
  expect(answers[9]).toMatch('is too long to be matched');
});
