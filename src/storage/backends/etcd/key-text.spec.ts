import { keyBytes, keyText } from './key-text.js';

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('keys as texts', () => {
  it.each<[string, string, string]>([
    ['ASCII', '2f 61', '/a'],
    ['UTF-8 of two, three and four bytes', '2f c3a9 e282ac f09f9880', '/é€😀'],
    ['the replacement character itself', '2f efbfbd', '/\ufffd'],
    ['a byte that begins nothing', '2f ff', '/\udcff'],
    ['a continuation byte alone', '2f 80 61', '/\udc80a'],
    ['a sequence that is cut short', '2f e282', '/\udce2\udc82'],
    ['a surrogate as UTF-8 would not write it', 'eda080', '\udced\udca0\udc80'],
    ['an overlong slash', 'c0af', '\udcc0\udcaf'],
    ['a byte order mark', 'efbbbf 61', '\ufeffa'],
    ['bad and good ones mixed', 'ff c3a9 fe', '\udcffé\udcfe'],
  ])('%s: both ways without loss', (_name, hex, text) => {
    const bytes = bytesOf(hex);
    expect(keyText(bytes, 0, bytes.length)).toBe(text);
    expect(keyBytes(text)).toEqual(bytes);
  });

  it('any bytes come back as they were', () => {
    for (let seed = 1; seed < 400; seed++) {
      const bytes = Buffer.from(
        Array.from({ length: seed % 9 }, (_, at) => (seed * 7919 + at * 104_729 * seed) & 0xff),
      );
      expect(keyBytes(keyText(bytes, 0, bytes.length))).toEqual(bytes);
    }
  });
});
