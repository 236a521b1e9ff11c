import { copyBytes } from './copy-bytes.js';

const memory = {
  ordinary: (bytes: number) => Buffer.alloc(bytes),
  shared: (bytes: number) => Buffer.from(new SharedArrayBuffer(bytes)),
};

describe.each(['ordinary', 'shared'] as const)('from %s memory', (from) => {
  describe.each(['ordinary', 'shared'] as const)('into %s memory', (into) => {
    it.each([
      ['all bytes', 0, undefined, undefined, 10, 'abcdefghij..'],
      ['a part', 3, 2, 5, 3, '...cde......'],
      ['one byte', 11, 9, 10, 1, '...........j'],
      ['as many as there is room for', 8, 0, 10, 4, '........abcd'],
      ['nothing of an empty part', 4, 5, 5, 0, '............'],
      ['nothing behind the end', 12, 0, 10, 0, '............'],
    ])('copies %s', (_what, at, start, end, length, expected) => {
      const source = memory[from](10);
      source.write('abcdefghij');
      const target = memory[into](12);
      target.fill('.');
      expect(copyBytes(source, target, at, start, end)).toBe(length);
      expect(target.toString()).toBe(expected);
    });
  });
});
