import { once } from 'node:events';
import * as http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { SeededRng } from '../../src/std/rng.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';
import { chosenSeed } from '../harness/seed.js';

const seed = chosenSeed();
const rng = new SeededRng(seed);

/** Misuse of connections rather than requests. */
describe(`misused connections, seed ${seed}`, () => {
  const server = new ServerUnderFuzz();
  const sessions: http2.ClientHttp2Session[] = [];
  beforeAll(() => server.start());
  afterAll(async () => {
    sessions.forEach((session) => session.destroy());
    await server.stop();
  });
  afterEach(() => server.probe());

  const tls = () => ({
    ca: server.keelson.ca,
    cert: server.keelson.client.certificate,
    key: server.keelson.client.key,
  });

  function session(): http2.ClientHttp2Session {
    const made = http2.connect(server.keelson.url, tls());
    made.on('error', () => undefined);
    sessions.push(made);
    return made;
  }

  function stream(on: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders): http2.ClientHttp2Stream {
    const made = on.request({ ':path': '/api/v1/pods', ...headers });
    made.on('error', () => undefined);
    made.resume();
    return made;
  }

  const codeOf = (of: http2.ClientHttp2Stream) =>
    new Promise<number>((resolve) => {
      of.once('response', (headers) => resolve(Number(headers[':status'])));
      of.once('close', () => resolve(0));
    });

  const post = (length: number) => ({
    ':method': 'POST',
    ':path': '/api/v1/namespaces/fuzz/configmaps',
    'content-type': 'application/json',
    'content-length': String(length),
  });

  it('bodies that are reset half way', async () => {
    const own = session();
    for (let n = 0; n < 60; n++) {
      const half = stream(own, post(1_000));
      half.write('{"metadata":');
      if (n % 3 === 0) await sleep(1);
      half.close(http2.constants[n % 2 === 0 ? 'NGHTTP2_CANCEL' : 'NGHTTP2_INTERNAL_ERROR']);
    }
    expect(await codeOf(stream(own, {}))).toBe(200);
    own.destroy();
  });

  it('a body of another length than announced', async () => {
    const own = session();
    const long = stream(own, post(2));
    long.end('{"metadata":{"name":"long"}}');
    const short = stream(own, post(1_000));
    short.end('{}');
    for (const code of await Promise.all([codeOf(long), codeOf(short)])) expect([0, 400]).toContain(code);
  });

  it('more concurrent requests than a connection may have', async () => {
    const own = session();
    await once(own, 'remoteSettings');
    const codes = await Promise.all(Array.from({ length: 400 }, () => codeOf(stream(own, {}))));
    expect(new Set(codes)).toEqual(new Set([200]));
    own.destroy();
  });

  it('streams that are opened and reset repeatedly', async () => {
    for (let round = 0; round < 4; round++) {
      const own = session();
      for (let n = 0; n < 250 && !own.destroyed; n++) stream(own, {}).close(http2.constants.NGHTTP2_CANCEL);
      await sleep(20);
      own.destroy();
    }
  });

  it('watches whose connection is cut', async () => {
    const own = session();
    const codes = Array.from({ length: 100 }, () => codeOf(stream(own, { ':path': '/api/v1/pods?watch=1' })));
    expect(new Set(await Promise.all(codes))).toEqual(new Set([200]));
    expect(server.keelson.components.watches.size).toBe(100);
    own.destroy();
    expect(await server.rest()).toMatchObject({ watches: 0, cursors: 0 });
  });

  it('headers beyond every limit', async () => {
    const own = session();
    const code = await codeOf(stream(own, { 'x-large': 'x'.repeat(200_000) }));
    expect([0, 431]).toContain(code);
    own.destroy();
  });

  it('invalid frames', async () => {
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    for (let n = 0; n < 30; n++) {
      const { hostname, port } = new URL(server.keelson.url);
      const socket = connectTls({ host: hostname, port: Number(port), ...tls(), ALPNProtocols: ['h2'] });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      if (n % 3 > 0) socket.write(preface);
      socket.write(Buffer.from(Array.from({ length: 1 + rng.below(300) }, () => rng.below(256))));
      await sleep(3);
      socket.destroy();
    }
  });

  it('bodies that arrive byte by byte and stop', async () => {
    const { hostname, port } = new URL(server.keelson.url);
    const slow = Array.from({ length: 20 }, async () => {
      const socket = connectTls({ host: hostname, port: Number(port), ...tls() });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      const lines = ['POST /api/v1/namespaces/fuzz/configmaps HTTP/1.1', 'host: x', 'content-type: application/json'];
      socket.write(`${lines.join('\r\n')}\r\ncontent-length: 500\r\n\r\n`);
      for (const byte of '{"metadata"') {
        socket.write(byte);
        await sleep(5);
      }
      socket.destroy();
    });
    await Promise.all(slow);
  });

  it('leave nothing behind', async () => {
    sessions.forEach((own) => own.destroy());
    expect(await server.rest()).toEqual({ watches: 0, cursors: 0, connections: 0 });
    expect(server.keelson.components.limiter).toBeDefined();
    expect(server.complaints.filter((complaint) => complaint.startsWith('request failed'))).toEqual([]);
  });
});
