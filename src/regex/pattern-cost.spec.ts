import { costOfPattern, patternCostMax } from './pattern-cost.js';
import { Pattern } from './pattern.js';

describe('cost of compiling patterns', () => {
  test.each([
    ['^(a|b)+$', 27],
    ['a{10}', 30],
    ['(ab){2,10}', 50],
    ['a{3,}', 23],
    ['((ab){10}c){10}', 20 + 10 * 32],
    ['[^\\]()]{5}', 25],
    ['\\pL', 20 + 32],
    ['[\\p{L}\\PN]{2}', 20 + 2 * 61],
    ['a{,3}', 25],
    ['\\({3}', 23],
  ])('%s costs %d', (source, cost) => {
    expect(costOfPattern(source)).toBe(cost);
  });

  test('a repeated large group is refused like other patterns that are too large', () => {
    for (const source of ['a{1000}'.repeat(100), `(${'ab'.repeat(100)}){1000}`, '\\pL'.repeat(2000)]) {
      expect(costOfPattern(source)).toBeGreaterThan(patternCostMax);
      expect(Pattern.of(source).problem).toBe('error parsing regexp: expression too large');
    }
  });

  test('invalid patterns get an estimate too', () => {
    for (const source of ['', ')', '(((', '[', '[^', '\\', '{', '{1}', 'a{9999}', ')'.repeat(100)]) {
      expect(costOfPattern(source)).toBeGreaterThan(0);
    }
  });
});
