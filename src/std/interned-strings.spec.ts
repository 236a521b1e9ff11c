import { InternedStrings } from './interned-strings.js';

describe('InternedStrings', () => {
  it('returns equal strings', () => {
    const strings = new InternedStrings(4);
    for (let number = 0; number < 100; number++) {
      const text = `text ${number % 7}`;
      expect(strings.get(text)).toBe(text);
    }
    expect(strings.get('x'.repeat(1_000))).toBe('x'.repeat(1_000));
  });
});
