import { keyBytes, keyText } from './key-text.js';

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('keyText and keyBytes', () => {
  it.each<[string, string, string]>([
    ['ASCII', '2f 61', '/a'],
    ['UTF-8 of two, three and four bytes', '2f c3a9 e282ac f09f9880', '/é€😀'],
    ['the replacement character itself', '2f efbfbd', '/\ufffd'],
    ['an invalid first byte', '2f ff', '/\udcff'],
    ['a continuation byte alone', '2f 80 61', '/\udc80a'],
    ['a truncated sequence', '2f e282', '/\udce2\udc82'],
    ['an encoded surrogate', 'eda080', '\udced\udca0\udc80'],
    ['an overlong slash', 'c0af', '\udcc0\udcaf'],
    ['a byte order mark', 'efbbbf 61', '\ufeffa'],
    ['valid and invalid bytes mixed', 'ff c3a9 fe', '\udcffé\udcfe'],
  ])('%s: converts both ways without loss', (_name, hex, text) => {
    const bytes = bytesOf(hex);
    expect(keyText(bytes, 0, bytes.length)).toBe(text);
    expect(keyBytes(text)).toEqual(bytes);
  });

  it('random bytes round-trip', () => {
    for (let seed = 1; seed < 400; seed++) {
      const bytes = Buffer.from(
        Array.from({ length: seed % 9 }, (_, at) => (seed * 7919 + at * 104_729 * seed) & 0xff),
      );
      expect(keyBytes(keyText(bytes, 0, bytes.length))).toEqual(bytes);
    }
  });
});
