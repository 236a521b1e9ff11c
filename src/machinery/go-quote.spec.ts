import fc from 'fast-check';
import { goEscapes, goQuote, goQuoteWhole, quotedCharactersMax, shortenedValue } from './go-quote.js';

/** The definition: one escape for each character that Go does not print. */
function quotedByCharacter(text: string): string {
  const escaped = (char: string) => {
    const point = char.codePointAt(0)!;
    const hex = (length: number) => point.toString(16).padStart(length, '0');
    if (goEscapes[char]) return goEscapes[char];
    if (point < 0x20 || point === 0x7f) return `\\x${hex(2)}`;
    if (point >= 0xd800 && point <= 0xdfff) return '\ufffd';
    return point > 0xffff ? `\\U${hex(8)}` : `\\u${hex(4)}`;
  };
  return `"${text.replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, escaped)}"`;
}

const units = fc.oneof(
  fc.constantFrom('a', ' ', '"', '\\', '\n', '\u0001', '\u007f', '\u0085', '\u00a0', '\u00e9', '\u4e00', '\u2028'),
  fc.constantFrom('\u{1f600}', '\u{f0000}', '\u{e0001}', '\ud800', '\udc00', '\ufffd', '\ufeff'),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

it('quotes any text as the definition does', () => {
  fc.assert(
    fc.property(fc.array(units), (parts) => {
      const text = parts.join('');
      expect(goQuoteWhole(text)).toBe(quotedByCharacter(text));
    }),
    { numRuns: 2000 },
  );
});

it.each(['"', '\u0001', '\u00a0', '\u{f0000}', '\ud800', '\u4e00'])('quotes a million of %j', (char) => {
  const one = quotedByCharacter(char).slice(1, -1);
  expect(goQuoteWhole(char.repeat(1_000_000))).toBe(`"${one.repeat(1_000_000)}"`);
});

it('a value of more than 65,536 characters is shortened in messages', () => {
  const max = quotedCharactersMax;
  const atMax = '\u00a0'.repeat(max);
  expect(goQuote(atMax)).toBe(goQuoteWhole(atMax));
  expect(goQuote(`${atMax}xy`)).toBe(`${goQuoteWhole(atMax)}… (shortened, ${max + 2} characters)`);
  expect(shortenedValue('a'.repeat(max))).toHaveLength(max);
  expect(shortenedValue('a'.repeat(3_000_000))).toBe(`${'a'.repeat(max)}… (shortened, 3000000 characters)`);
});
