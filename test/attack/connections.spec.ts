import { connect as connectTcp } from 'node:net';
import * as http2 from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOpenKeelson, type OpenKeelson } from '../../src/assembly/start-keelson.js';
import { HttpClient } from '../harness/http-client.js';
import { cancel, frameType, RawHttp2 } from './raw-http2.js';

// The table of docs/bounds.md with small numbers: a limit that works with 100 ms works with 32 s. Real sockets and real
// TLS.
const limits = {
  headersTimeoutMs: 1_200,
  tlsHandshakeTimeoutMs: 1_200,
  http2SilenceMsMax: 1_000,
  // Longer than a busy machine stops a process: clients of these tests that answer are in the process of the server.
  http2PingTimeoutMs: 3_000,
  idleConnectionTimeoutMs: 1_500,
  unreadBodyTimeoutMs: 500,
  watchWriteStallTimeoutMs: 700,
  requestHeaderBytesMax: 64 * 1024,
  requestHeadersMax: 100,
  requestBodyBytesMax: 20_000,
};
const requestTimeoutMs = 3_000;
/** Long enough for a busy machine, and shorter than the time without a limit. */
const waitMs = 20_000;
/** Longer than every limit above. */
const beyondMs = 4_500;

let server: OpenKeelson;
const undo: (() => void)[] = [];
beforeAll(async () => {
  server = await startOpenKeelson({ config: { limits, requestTimeoutMs, authentication: { anonymous: true } } });
});
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step();
});
afterAll(async () => {
  expect(await openConnections(0)).toBe(0);
  await server.stop();
});

/** Returns the number of TCP connections once it has dropped to `wanted`, or after a timeout. */
async function openConnections(wanted: number): Promise<number> {
  const front = server.app.getHttpServer() as unknown as {
    getConnections(told: (e: unknown, n: number) => void): void;
  };
  const deadline = performance.now() + waitMs;
  for (;;) {
    const count = await new Promise<number>((resolve) => front.getConnections((_error, n) => resolve(n)));
    if (count <= wanted || performance.now() > deadline) return count;
    await sleep(20);
  }
}

const address = () => {
  const { hostname, port } = new URL(server.url);
  return { host: hostname, port: Number(port) };
};

class Http1 {
  text = '';
  private constructor(readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => (this.text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    undo.push(() => socket.destroy());
  }

  static async open(as: 'administrator' | 'anonymous' = 'administrator'): Promise<Http1> {
    const { certificate: cert, key } = server.client;
    const own = as === 'administrator' ? { cert, key } : {};
    const socket = connectTls({ ...address(), ca: server.ca, ...own, ALPNProtocols: ['http/1.1'] });
    const made = new Http1(socket);
    await once(socket, 'secureConnect');
    return made;
  }

  write = (text: string) => this.socket.write(text);
  isClosed = (ms = waitMs) => within(() => this.socket.destroyed, ms);
  says = (part: string, ms = waitMs) => within(() => this.text.includes(part), ms);
  /** Sends a byte every few milliseconds until the connection ends. */
  async trickle(part: string): Promise<boolean> {
    const deadline = performance.now() + waitMs;
    while (!this.socket.destroyed && performance.now() < deadline) {
      this.socket.write(part);
      await sleep(50);
    }
    return this.socket.destroyed;
  }
}

async function within(is: () => boolean, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!is() && performance.now() < deadline) await sleep(10);
  return is();
}

async function raw2(...options: Parameters<typeof RawHttp2.connect> extends [unknown, ...infer Rest] ? Rest : never) {
  const made = await RawHttp2.connect(server, ...options);
  undo.push(() => made.destroy());
  return made;
}

const head = (line: string, ...more: string[]) => [line, 'host: a', ...more, '', ''].join('\r\n');
const post = (length: number, namespace = 'default') =>
  head(
    `POST /api/v1/namespaces/${namespace}/configmaps HTTP/1.1`,
    'content-type: application/json',
    `content-length: ${length}`,
  );
const many = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: 1`);

describe('idle connections', () => {
  it('TCP without TLS ends at tlsHandshakeTimeoutMs', async () => {
    const socket = connectTcp(address());
    socket.on('error', () => undefined);
    undo.push(() => socket.destroy());
    await once(socket, 'connect');
    socket.resume();
    expect(await within(() => socket.destroyed, waitMs)).toBe(true);
  });

  it('HTTP/1.1 without a request ends at headersTimeoutMs, without an answer', async () => {
    const client = await Http1.open();
    expect([await client.isClosed(), client.text]).toEqual([true, '']);
  });

  it('HTTP/1.1 with a slow head ends at headersTimeoutMs (408)', async () => {
    const client = await Http1.open();
    client.write('GET /livez HTTP/1.1\r\nhost: a\r\n');
    expect(await client.trickle('x: y\r\n')).toBe(true);
    expect(client.text).toContain('HTTP/1.1 408 ');
  });

  it('HTTP/1.1 keep-alive ends at idleConnectionTimeoutMs', async () => {
    const client = await Http1.open();
    client.write(head('GET /livez HTTP/1.1'));
    expect(await client.says('200 OK')).toBe(true);
    expect(await client.isClosed()).toBe(true);
  });

  it('HTTP/2 without a preface ends at headersTimeoutMs', async () => {
    expect(await (await raw2({ preface: false })).closed(waitMs)).toBe(true);
  });

  it('HTTP/2 without requests ends at idleConnectionTimeoutMs', async () => {
    const client = await raw2();
    expect(await client.closed(waitMs)).toBe(true);
    expect(client.has(frameType.goaway)).toBe(true);
  });

  it('HTTP/2 whose requests have all ended ends at idleConnectionTimeoutMs', async () => {
    const client = await raw2();
    client.headers(1, {});
    expect(await client.until(() => client.has(frameType.data, 1), waitMs)).toBe(true);
    expect(await client.closed(waitMs)).toBe(true);
  });

  it('HTTP/2 with an endless head ends at idleConnectionTimeoutMs', async () => {
    const client = await raw2();
    client.headers(1, {}, { endHeaders: false });
    expect(await client.closed(waitMs)).toBe(true);
  });

  it('HTTP/2 with a frame above the limit ends, including its watch', async () => {
    const client = await raw2();
    client.headers(1, { ':path': '/api/v1/namespaces/quiet/configmaps?watch=1' });
    expect(await client.until(() => client.has(frameType.headers, 1), waitMs)).toBe(true);
    const watchesBefore = server.components.watches.size;
    // The head of a SETTINGS frame of 16 MiB: nghttp2 answers with a GOAWAY and stops reading.
    client.socket.write(Buffer.from([0xff, 0xff, 0xff, frameType.settings, 0, 0, 0, 0, 0]));
    expect(await client.closed(waitMs)).toBe(true);
    expect(await within(() => server.components.watches.size < watchesBefore, waitMs)).toBe(true);
  });

  it('HTTP/2 with a client that answers no PING ends, including its watch', async () => {
    const client = await raw2();
    client.answersPings = false;
    client.headers(1, { ':path': '/api/v1/namespaces/quiet/configmaps?watch=1' });
    expect(await client.until(() => client.has(frameType.headers, 1), waitMs)).toBe(true);
    expect(await client.closed(waitMs)).toBe(true);
    expect(client.has(frameType.ping)).toBe(true);
  });

  it.each(['http/1.1', 'h2'] as const)('a watch without events stays open by %s', async (protocol) => {
    const client = new HttpClient({ ...server, ...server.client, protocol });
    undo.push(() => client.close());
    const watch = await client.watch('/api/v1/namespaces/quiet/secrets?watch=1');
    const ended = await Promise.race([watch.ended, sleep(beyondMs, 'open')]);
    expect(ended).toBe('open');
  });
});

describe('heads', () => {
  const rows: [what: string, lines: string[], code: number][] = [
    ['the maximum number of headers', many(98), 200],
    ['one header above the maximum', many(100), 431],
    ['many headers', many(3_000), 431],
    ['the maximum number of bytes', [`x: ${'y'.repeat(63_000)}`], 200],
    ['more than the maximum number of bytes', [`x: ${'y'.repeat(70_000)}`], 431],
    ['two Host headers', ['Host: b'], 400],
    ['an unknown Expect header', ['expect: a-miracle'], 417],
  ];
  it.each(rows)('HTTP/1.1 with %s', async (_what, lines, code) => {
    const client = await Http1.open();
    client.write(head('GET /livez HTTP/1.1', ...lines));
    expect(await client.says('\r\n\r\n')).toBe(true);
    expect(client.text.slice(0, 12)).toBe(`HTTP/1.1 ${code}`);
    if (code !== 200) expect(client.text).toContain('"kind":"Status"');
  });

  it('HTTP/1.1 without Host is rejected with a Status (400)', async () => {
    const client = await Http1.open();
    client.write('GET /livez HTTP/1.1\r\n\r\n');
    expect(await client.says('missing required Host header')).toBe(true);
  });

  it('padding does not displace Impersonate-User: the request is refused', async () => {
    for (let count = 80; count <= 260; count += 20) {
      const client = await Http1.open();
      client.write(head('GET /api/v1/namespaces HTTP/1.1', ...many(count), 'impersonate-user: nobody'));
      expect(await client.says('\r\n\r\n')).toBe(true);
      expect(['HTTP/1.1 403', 'HTTP/1.1 431']).toContain(client.text.slice(0, 12));
    }
  });

  it.each([
    ['the maximum number of headers', 90, 10, 200],
    ['more than the maximum number of headers', 120, 10, 431],
    ['many headers', 400, 10, 0],
  ])('HTTP/2 with %s', async (_what, count, length, code) => {
    const client = new HttpClient({ ...server, ...server.client, protocol: 'h2' });
    undo.push(() => client.close());
    const headers = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'y'.repeat(length)]));
    const answer = await client.get('/livez', headers).catch(() => undefined);
    expect(answer?.code ?? 0).toBe(code);
    // The session survives a reset stream.
    expect((await client.get('/livez')).code).toBe(200);
  });

  it('HTTP/2 with too many bytes resets the stream and not the session', async () => {
    const client = await raw2();
    expect(await client.until(() => client.has(frameType.settings), waitMs)).toBe(true);
    const large = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`x-${i}`, 'y'.repeat(1_000)]));
    client.headers(1, large);
    expect(await client.until(() => client.has(frameType.reset, 1), waitMs)).toBe(true);
    client.headers(3, {});
    expect(await client.until(() => client.has(frameType.data, 3), waitMs)).toBe(true);
  });

  it.each(['http/1.1', 'h2'] as const)('the first of two Impersonate-User headers counts by %s', async (protocol) => {
    const client = new HttpClient({ ...server, ...server.client, protocol });
    undo.push(() => client.close());
    const { body } = await client.get('/api/v1/nodes', { 'impersonate-user': ['jane', 'system:admin'] });
    expect(body.message).toContain('User "jane" cannot list');
  });

  it('a flood of CONTINUATION frames ends the session', async () => {
    const client = await raw2();
    client.headers(1, {}, { endHeaders: false });
    for (let n = 0; n < 10_000 && !client.isClosed; n++) {
      client.send(frameType.continuation, 0, 1, Buffer.from([0, 1, 0x61, 1, 0x62]));
      if (n % 500 === 0) await sleep(1);
    }
    expect(await client.closed(waitMs)).toBe(true);
  });
});

describe('bodies', () => {
  it.each([
    ['403', 'anonymous', 15_000],
    ['413', 'administrator', 1_000_000],
  ] as const)('HTTP/1.1: a body that trickles in after a %s ends at unreadBodyTimeoutMs', async (code, as, length) => {
    const client = await Http1.open(as);
    client.write(post(length));
    expect(await client.says(`HTTP/1.1 ${code}`)).toBe(true);
    expect(await client.trickle('x')).toBe(true);
  });

  it('HTTP/1.1: an endless body ends at unreadBodyTimeoutMs after it was refused as too large (413)', async () => {
    const client = await Http1.open();
    const lines = ['content-type: application/json', 'transfer-encoding: chunked'];
    client.write(head('POST /api/v1/namespaces/default/configmaps HTTP/1.1', ...lines));
    for (let n = 0; n < 30; n++) client.write(`400\r\n${' '.repeat(1024)}\r\n`);
    expect(await client.says('HTTP/1.1 413')).toBe(true);
    expect(await client.trickle('1\r\nx\r\n')).toBe(true);
  });

  it('HTTP/1.1: a slow body ends at the deadline of its request (504)', async () => {
    const client = await Http1.open();
    client.write(post(15_000));
    expect(await client.trickle(' ')).toBe(true);
    expect(client.text).toContain('HTTP/1.1 504 ');
  });

  it.each([
    ['403', 'kube-nobody'],
    ['504', ''],
  ])('HTTP/2: a body that trickles in after a %s is reset', async (code, impersonated) => {
    const client = await raw2();
    const path = '/api/v1/namespaces/default/configmaps';
    const type = { 'content-type': 'application/json', 'impersonate-user': impersonated };
    client.headers(1, { ':method': 'POST', ':path': path, ...type }, { endStream: false });
    const deadline = performance.now() + waitMs;
    while (!client.has(frameType.reset, 1) && !client.isClosed && performance.now() < deadline) {
      client.send(frameType.data, 0, 1, Buffer.from(' '));
      await sleep(20);
    }
    const answer = Buffer.concat(
      client.frames.filter(({ type, stream }) => type === frameType.data && stream === 1).map(({ payload }) => payload),
    );
    expect(answer.toString()).toContain(`"code":${code}`);
    expect(client.has(frameType.reset, 1)).toBe(true);
  });

  it.each(['/livez', '/api/v1/namespaces'])('HTTP/2: a HEAD of %s with an endless body is reset', async (path) => {
    const session = http2.connect(server.url, { ca: server.ca });
    undo.push(() => session.destroy());
    const stream = session.request({ ':method': 'HEAD', ':path': path }, { endStream: false });
    stream.on('error', () => undefined).resume();
    const closed = once(stream, 'close').catch(() => undefined);
    // More than the window of a stream, which an unread body does not enlarge.
    stream.write(Buffer.alloc(1_000_000));
    await once(stream, 'response');
    await closed;
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  it('HTTP/1.1: Expect: 100-continue is answered when the body is read, and not for a refused request', async () => {
    const expecting = (namespace: string) => post(2, namespace).replace('\r\n\r\n', '\r\nexpect: 100-continue\r\n\r\n');
    const client = await Http1.open();
    client.write(expecting('default'));
    expect(await client.says('HTTP/1.1 100 Continue')).toBe(true);
    client.write('{}');
    expect(await client.says('HTTP/1.1 4')).toBe(true);
    const refused = await Http1.open('anonymous');
    refused.write(expecting('default'));
    expect(await refused.says('HTTP/1.1 403')).toBe(true);
    expect(refused.text).not.toContain('100 Continue');
    expect(await refused.isClosed()).toBe(true);
  });

  it('HTTP/1.1: chunk extensions above 16 KiB are refused (413)', async () => {
    const client = await Http1.open();
    const lines = ['content-type: application/json', 'transfer-encoding: chunked'];
    client.write(head('POST /api/v1/namespaces/default/configmaps HTTP/1.1', ...lines));
    client.write(`2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`);
    expect(await client.isClosed()).toBe(true);
    expect(client.text).toContain('HTTP/1.1 413 ');
  });

  it('HTTP/1.1: trailers above the limit on headers end the connection', async () => {
    const client = await Http1.open();
    const lines = ['content-type: application/json', 'transfer-encoding: chunked'];
    client.write(head('POST /api/v1/namespaces/default/configmaps HTTP/1.1', ...lines));
    client.write(`2\r\n{}\r\n0\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(80)}\r\n`);
    expect(await client.isClosed()).toBe(true);
  });
});

describe('clients that do not read', () => {
  const large = () => '/openapi/v2';

  it('HTTP/1.1: an answer is cut at the deadline', async () => {
    const client = await Http1.open();
    client.socket.pause();
    for (let n = 0; n < 8; n++) client.write(head(`GET ${large()} HTTP/1.1`));
    expect(await openConnections(0)).toBe(0);
  });

  it('HTTP/2: an answer without a window is reset at the deadline', async () => {
    const client = await raw2({ settings: [[4, 0]] });
    client.headers(1, { ':path': large() });
    expect(await client.until(() => client.has(frameType.reset, 1), waitMs)).toBe(true);
    expect(client.frames.find(({ type }) => type === frameType.reset)!.payload.readUInt32BE(0)).not.toBe(0);
  });

  it('HTTP/2: a small answer without a window is reset at the deadline', async () => {
    const client = await raw2({ settings: [[4, 0]] });
    client.headers(1, { ':path': '/livez' });
    expect(await client.until(() => client.has(frameType.reset, 1), waitMs)).toBe(true);
  });

  it('HTTP/2: a session whose answers are not read gets no more streams', async () => {
    const client = await raw2({ settings: [[4, 0]] });
    const enhanceYourCalm = 11;
    const isRefused = () =>
      client.frames.some(
        ({ type, payload }) => type === frameType.reset && payload.readUInt32BE(0) === enhanceYourCalm,
      );
    for (let stream = 1; stream < 400 && !isRefused() && !client.isClosed; stream += 2) {
      client.headers(stream, { ':path': large() });
      if (stream % 20 === 1) await sleep(20);
    }
    expect(await client.until(isRefused, requestTimeoutMs)).toBe(true);
  });

  it('HTTP/2: a watch is reset at watchWriteStallTimeoutMs', async () => {
    const admin = new HttpClient({ ...server, ...server.client });
    undo.push(() => admin.close());
    const client = await raw2({ settings: [[4, 0]] });
    client.headers(1, { ':path': '/api/v1/namespaces/default/configmaps?watch=1' });
    for (let n = 0; n < 5; n++) {
      const body = { metadata: { generateName: 'large-' }, data: { a: 'x'.repeat(10_000) } };
      expect((await admin.post('/api/v1/namespaces/default/configmaps', body)).code).toBe(201);
    }
    expect(await client.until(() => client.has(frameType.reset, 1), waitMs)).toBe(true);
  });
});

describe('floods', () => {
  /** Sends until the server ends the session; returns false if it never does. */
  async function flood(client: RawHttp2, count: number, send: (n: number) => void): Promise<boolean> {
    for (let n = 0; n < count && !client.isClosed; n++) {
      send(n);
      if (n % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return client.closed(beyondMs * 2);
  }

  it('streams that are opened and reset end the session', async () => {
    const client = await raw2();
    expect(
      await flood(client, 3_000, (n) => {
        client.headers(2 * n + 1, { ':path': '/api/v1/pods' });
        const code = Buffer.alloc(4);
        code.writeUInt32BE(cancel);
        client.send(frameType.reset, 0, 2 * n + 1, code);
      }),
    ).toBe(true);
  });

  it.each([
    ['PING', frameType.ping, Buffer.alloc(8)],
    ['SETTINGS', frameType.settings, Buffer.alloc(0)],
  ])('%s frames whose answers are not read end the session', async (_name, type, payload) => {
    const client = await raw2();
    client.socket.pause();
    for (let n = 0; n < 400_000 && !client.isClosed; n++) {
      if (client.socket.destroyed) break;
      if (!client.send(type, 0, 0, payload)) await sleep(1);
    }
    expect(await openConnections(0)).toBe(0);
  });

  it('empty DATA frames do not keep a session whose request was answered', async () => {
    const client = await raw2();
    client.headers(1, { ':method': 'POST', ':path': '/nowhere' }, { endStream: false });
    expect(await flood(client, 100_000, () => client.send(frameType.data, 0, 1))).toBe(true);
  });

  it('streams above the limit are refused one by one', async () => {
    const client = await raw2();
    for (let n = 0; n < 400; n++) client.headers(2 * n + 1, { ':path': '/api/v1/namespaces/q/secrets?watch=1' });
    const resets = () => client.frames.filter(({ type }) => type === frameType.reset).length;
    expect(await client.until(() => resets() === 150, waitMs)).toBe(true);
    expect(client.isClosed).toBe(false);
  });

  it('pipelined and abandoned requests leave nothing behind', async () => {
    const before = server.components.limiter.inflight;
    for (let round = 0; round < 5; round++) {
      const client = await Http1.open();
      client.write(head('GET /api/v1/pods?watch=1 HTTP/1.1') + head('GET /api/v1/pods HTTP/1.1').repeat(50));
      await client.says('200 OK');
      client.socket.destroy();
    }
    expect(await openConnections(0)).toBe(0);
    expect(server.components.limiter.inflight).toEqual(before);
    expect(await within(() => server.components.watches.size === 0, waitMs)).toBe(true);
  });
});

test('an idle session of node:http2 gets a GOAWAY, and the client reconnects', async () => {
  const session = http2.connect(server.url, { ca: server.ca });
  undo.push(() => session.destroy());
  session.on('error', () => undefined);
  expect(await within(() => session.closed || session.destroyed, waitMs)).toBe(true);
});
