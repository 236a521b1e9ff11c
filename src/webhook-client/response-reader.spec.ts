import { MalformedResponse, ResponseReader, ResponseTooLarge, type ResponseHead } from './response-reader.js';

const bytesMax = 1000;

/** Reads a response that arrives in pieces of `size` bytes, and then the end of the connection. */
function read(text: string, size: number, known?: ResponseHead) {
  const reader = new ResponseReader(bytesMax, known);
  const bytes = Buffer.from(text, 'latin1');
  let isComplete = false;
  for (let at = 0; at < bytes.length && !isComplete; at += size) {
    isComplete = reader.take(bytes.subarray(at, at + size));
    // As when the connection has read everything at once.
    if (isComplete && at + size < bytes.length) reader.isReusable = false;
  }
  const isWhole = isComplete || reader.close();
  const { status, isReusable, body, keepAliveMs } = reader;
  return isWhole ? { status, isReusable, body: body.toString('latin1'), keepAliveMs } : 'incomplete';
}

const head = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const sizes = [1, 2, 3, 7, 64, 100_000];

it.each<[string, string, object]>([
  ['with Content-Length', `${head('Content-Length: 2')}{}`, { body: '{}', isReusable: true }],
  ['without a body', head('content-length:0'), { body: '', isReusable: true }],
  ['without a reason', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}', { body: '{}' }],
  ['with bytes after its end', `${head('Content-Length: 2')}{}x`, { body: '{}', isReusable: false }],
  ['with Connection: close', `${head('Content-Length: 2', 'Connection: Close')}{}`, { isReusable: false }],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}', { isReusable: false }],
  [
    'of HTTP/1.0 with Connection: keep-alive',
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}',
    { isReusable: true },
  ],
  ['with a Keep-Alive hint', `${head('Content-Length: 2', 'Keep-Alive: timeout=5, max=3')}{}`, { keepAliveMs: 5000 }],
  ['until the connection closes', `${head()}{"a":1}`, { body: '{"a":1}', isReusable: false }],
  [
    'in chunks',
    `${head('Transfer-Encoding: chunked')}2\r\n{"\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n`,
    { body: '{"0123456789', isReusable: true },
  ],
  [
    'in chunks with a trailer',
    `${head('Transfer-Encoding: Chunked')}1\r\nx\r\n0\r\nExpires: never\r\n\r\n`,
    { body: 'x', isReusable: true },
  ],
  [
    'after interim responses',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\na: b\r\n\r\n${head('Content-Length: 1')}x`,
    { body: 'x' },
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', isReusable: true }],
  [
    'of an error, without its body',
    'HTTP/1.1 500 x\r\nContent-Length: 2\r\n\r\n{}',
    { status: 500, body: '', isReusable: false },
  ],
  ['of an error without a body', 'HTTP/1.1 302 x\r\nContent-Length: 0\r\n\r\n', { status: 302, isReusable: true }],
  ['in bytes beyond ASCII', `${head('X: \xe9', 'Content-Length: 2')}\xc3\xa9`, { body: '\xc3\xa9' }],
])('a response %s is read from pieces of any size', (_title, text, want) => {
  for (const size of sizes) expect(read(text, size)).toMatchObject(want);
});

it.each<[string, string]>([
  ['the head ends early', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'],
  ['the body ends early', `${head('Content-Length: 3')}{}`],
  ['a chunk ends early', `${head('Transfer-Encoding: chunked')}5\r\n{}`],
  ['the last chunk is missing', `${head('Transfer-Encoding: chunked')}2\r\n{}\r\n`],
  ['the empty line after the chunks is missing', `${head('Transfer-Encoding: chunked')}0\r\n`],
])('a response is incomplete if %s', (_title, text) => {
  for (const size of sizes) expect(read(text, size)).toBe('incomplete');
});

it.each<[string, string]>([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['HTTP/2', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['a header without a colon', head('Content-Length 2')],
  ['a space before the colon', head('Content-Length : 2')],
  ['a folded header', head('Content-Length: 2', ' 3')],
  ['a bare line feed in a header', head('A: b\nContent-Length: 2')],
  ['a bare carriage return in a header', head('A: b\rc')],
  ['two lengths', head('Content-Length: 2', 'Content-Length: 2')],
  ['a list of lengths', head('Content-Length: 2, 2')],
  ['a negative length', head('Content-Length: -2')],
  ['a hexadecimal length', head('Content-Length: 0x2')],
  ['a length beyond exact integers', head('Content-Length: 9999999999999999')],
  ['a length and chunks', head('Content-Length: 2', 'Transfer-Encoding: chunked')],
  ['chunks twice', head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  ['an unknown transfer encoding', head('Transfer-Encoding: gzip, chunked')],
  ['a chunk without a size', `${head('Transfer-Encoding: chunked')}\r\n`],
  ['a chunk of a negative size', `${head('Transfer-Encoding: chunked')}-1\r\n`],
  ['a size of nine digits', `${head('Transfer-Encoding: chunked')}000000001\r\n`],
  ['a chunk longer than its size', `${head('Transfer-Encoding: chunked')}1\r\nxx\r\n`],
  ['a long line of a chunk', `${head('Transfer-Encoding: chunked')}1;${'x'.repeat(5000)}`],
  ['a long head', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(17_000)}`],
  ['a malformed trailer', `${head('Transfer-Encoding: chunked')}0\r\nx\r\n\r\n`],
  ['endless trailers', `${head('Transfer-Encoding: chunked')}0\r\n${'a: b\r\n'.repeat(101)}`],
])('a response with %s is refused', (_title, text) => {
  for (const size of sizes) expect(() => read(text, size)).toThrow(MalformedResponse);
});

it.each<[string, string]>([
  ['its length says so', head(`Content-Length: ${bytesMax + 1}`)],
  ['its chunks say so', `${head('Transfer-Encoding: chunked')}3e8\r\n${'x'.repeat(1000)}\r\n1\r\n`],
  ['one chunk says so', `${head('Transfer-Encoding: chunked')}ffffffff\r\n`],
  ['its bytes are too many', `${head()}${'x'.repeat(bytesMax + 1)}`],
])('a body is too large when %s', (_title, text) => {
  for (const size of sizes) expect(() => read(text, size)).toThrow(ResponseTooLarge);
});

it('a head that an earlier response had is used for the same text only', () => {
  const first = new ResponseReader(bytesMax);
  expect(first.take(Buffer.from(`${head('Content-Length: 2', 'Keep-Alive: timeout=5')}{}`))).toBe(true);
  for (const size of sizes) {
    const readNext = (text: string) => read(text, size, first.head);
    expect(readNext(`${head('Content-Length: 2', 'Keep-Alive: timeout=5')}[]`)).toEqual({
      status: 200,
      isReusable: true,
      body: '[]',
      keepAliveMs: 5000,
    });
    expect(readNext(`${head('Content-Length: 3', 'Keep-Alive: timeout=5')}[1]`)).toMatchObject({ body: '[1]' });
    expect(readNext(`${head('Content-Length: 2', 'Connection: close')}{}`)).toEqual({
      status: 200,
      isReusable: false,
      body: '{}',
      keepAliveMs: undefined,
    });
    expect(() => readNext(`${head('Content-Length: 2', 'Content-Length: 2')}{}`)).toThrow(MalformedResponse);
  }
});

it('a body of exactly the limit is read', () => {
  const text = `${head('Transfer-Encoding: chunked')}3e8\r\n${'x'.repeat(bytesMax)}\r\n0\r\n\r\n`;
  for (const size of sizes) expect(read(text, size)).toMatchObject({ body: 'x'.repeat(bytesMax) });
});
