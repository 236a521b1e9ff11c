import { constants, createDeflate, deflateRawSync, deflateSync } from 'node:zlib';
import { headerDictionary, headerDictionaryId } from './header-dictionary.js';
import { HeaderCompressor, HeaderDecompressor } from './header-block.js';
import { SpdyError } from './spdy-error.js';

const bounds = { headersMax: 64, headerBytesMax: 16 * 1024 };
const block = (headers: readonly (readonly [string, string])[]) => {
  const parts = [Buffer.of(0, 0, 0, headers.length)];
  for (const text of headers.flat()) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    parts.push(length, Buffer.from(text));
  }
  return Buffer.concat(parts);
};
/** One zlib stream of all blocks, each flushed, by the streaming interface of zlib. */
async function zlibBlocks(blocks: readonly Buffer[], dictionary?: Buffer): Promise<Buffer[]> {
  const deflate = createDeflate({ level: 9, ...(dictionary && { dictionary }) });
  const results: Buffer[] = [];
  for (const one of blocks) {
    deflate.write(one);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    results.push(deflate.read() as Buffer);
  }
  return results;
}

function adler32(bytes: Buffer): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

it('the dictionary is that of the draft', () => {
  expect(headerDictionary).toHaveLength(1423);
  expect(adler32(headerDictionary)).toBe(headerDictionaryId);
});

it('header blocks of one connection survive compression', () => {
  const compressor = new HeaderCompressor();
  const decompressor = new HeaderDecompressor(bounds);
  for (let i = 0; i < 300; i++) {
    const headers = new Map([
      ['streamtype', i % 2 ? 'data' : 'error'],
      ['port', '80'],
      ['requestid', String(i)],
      ['x', 'é'.repeat(i)],
    ]);
    expect(decompressor.decompress(compressor.compress(headers))).toEqual(headers);
  }
});

it.each([
  ['with the dictionary', headerDictionary],
  ['without a dictionary', undefined],
])('one continuous zlib stream %s is read block by block', async (_name, dictionary) => {
  const headers = Array.from({ length: 50 }, (_, i) => [['streamtype', 'stdout'] as const, ['n', `${i}`] as const]);
  const decompressor = new HeaderDecompressor(bounds);
  for (const [i, bytes] of (await zlibBlocks(headers.map(block), dictionary)).entries()) {
    expect([...decompressor.decompress(bytes)]).toEqual(headers[i]);
  }
});

const zlibOf = (bytes: Buffer) => deflateSync(bytes, { dictionary: headerDictionary });
it.each([
  ['a bomb', zlibOf(Buffer.alloc(64 * 1024 * 1024))],
  ['too many headers', zlibOf(block(Array.from({ length: 65 }, (_, i) => [`n${i}`, ''] as const)))],
  [
    'a duplicate name',
    zlibOf(
      block([
        ['a', '1'],
        ['a', '2'],
      ]),
    ),
  ],
  ['an upper-case name', zlibOf(block([['A', '1']]))],
  ['an empty name', zlibOf(block([['', '1']]))],
  ['bytes after the headers', zlibOf(Buffer.concat([block([['a', '1']]), Buffer.of(0)]))],
  ['a count beyond the bytes', zlibOf(Buffer.of(0, 0, 0, 9))],
  ['a length beyond the bytes', zlibOf(Buffer.of(0, 0, 0, 1, 255, 255, 255, 255, 97))],
  ['no bytes', Buffer.alloc(0)],
  ['deflate without a zlib head', deflateRawSync(block([['a', '1']]))],
  ['another dictionary', deflateSync(block([['a', '1']]), { dictionary: Buffer.from('other') })],
  ['garbage', Buffer.from('78bbe3c6a7c2ffffffffffff', 'hex')],
])('%s in header compression is refused', (_name, bytes) => {
  expect(() => new HeaderDecompressor(bounds).decompress(bytes)).toThrow(SpdyError);
});

it('names of prototypes are ordinary headers', () => {
  const headers = new Map([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
  expect(new HeaderDecompressor(bounds).decompress(new HeaderCompressor().compress(headers))).toEqual(headers);
});
