import { hasCostlyPatterns } from './costly-patterns.js';

const range = (count: number) => Array.from({ length: count }, (_, n) => n);

test('equal patterns count once, and a thousand distinct ones are allowed', () => {
  const of = (count: number, source: (n: number) => string) => [
    { type: 'object', properties: Object.fromEntries(range(count).map((n) => [`p${n}`, { pattern: source(n) }])) },
  ];
  expect(hasCostlyPatterns(of(50_000, () => '^(a|b)+$'))).toBe(false);
  expect(hasCostlyPatterns(of(1000, (n) => `^(a|${n})+$`))).toBe(false);
  expect(hasCostlyPatterns(of(2000, (n) => `^(a|${n})+$`))).toBe(true);
});
