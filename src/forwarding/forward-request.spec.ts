import { once } from 'node:events';
import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as net from 'node:net';
import { systemClock } from '../std/clock.js';
import type { Downstream } from './downstream.js';
import { ForwardError } from './forward-error.js';
import { forwardRequest } from './forward-request.js';
import { requestHeaders } from './forwarded-headers.js';
import { hasBody } from './downstream.js';
import { isGlobalUnicast } from './allowed-addresses.js';
import { Upstreams } from './upstreams.js';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  if (server instanceof http.Server) closing.push(() => server.closeAllConnections());
  return (server.address() as net.AddressInfo).port;
}

/** A server that answers every connection with these bytes. */
async function rawServer(answer: (socket: net.Socket) => void): Promise<number> {
  const sockets = new Set<net.Socket>();
  closing.push(() => sockets.forEach((socket) => socket.destroy()));
  return listen(
    net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => answer(socket));
    }),
  );
}

/** A server that forwards everything to `port`, over HTTP/1.1 and HTTP/2; errors are answered with 502 and their text. */
async function proxyTo(port: number, options: { permits?: (address: string) => boolean; host?: string } = {}) {
  const upstreams = new Upstreams({ clock: systemClock, permitsAddress: options.permits });
  closing.push(() => upstreams.close());
  const outcomes: string[] = [];
  let sentBytes = 0;
  const serve = (request: Downstream['request'], response: Downstream['response']) => {
    const downstream: Downstream = {
      request,
      response,
      begin: () => true,
      cut: () =>
        'stream' in response ? response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR) : response.destroy(),
      sent: (bytes) => (sentBytes += bytes),
    };
    const method = request.method ?? 'GET';
    const target = { scheme: 'http', host: options.host ?? '127.0.0.1', port } as const;
    const headers = requestHeaders(request, {
      isDropped: (name) => name === 'authorization',
      clientAddress: '192.0.2.1',
      hasBody: hasBody(request),
      method,
    });
    forwardRequest(upstreams, downstream, { target, method, path: request.url!, headers }).then(
      () => outcomes.push('done'),
      (error: unknown) => {
        outcomes.push(error instanceof ForwardError ? `${error.step}: ${error.message}` : String(error));
        if (response.headersSent) return downstream.cut();
        response.writeHead(502);
        response.end(error instanceof Error ? error.message : '');
      },
    );
  };
  const http1 = http.createServer(serve);
  const h2 = http2.createServer(serve);
  const ports = { http1: await listen(http1), http2: await listen(h2) };
  return { ...ports, outcomes, sent: () => sentBytes };
}

interface Answer {
  readonly code: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly isComplete: boolean;
}

function request(port: number, options: http.RequestOptions = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ port, host: '127.0.0.1', agent: false, ...options }, (answer) => {
      const read: Buffer[] = [];
      answer.on('data', (bytes: Buffer) => read.push(bytes));
      answer.on('error', () => undefined);
      answer.on('close', () =>
        resolve({
          code: answer.statusCode,
          headers: answer.headers,
          body: Buffer.concat(read).toString(),
          isComplete: answer.complete,
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const echo: Handler = (incoming, response) => {
  const read: Buffer[] = [];
  incoming.on('data', (bytes: Buffer) => read.push(bytes));
  incoming.on('end', () => {
    const { method, url, rawHeaders } = incoming;
    response.setHeader('x-upstream', ['a', 'b']);
    response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(read).toString() }));
  });
};
const echoed = ({ body }: Answer) =>
  JSON.parse(body) as { method: string; url: string; rawHeaders: string[]; body: string };

it('forwards method, path, headers and body, without the headers of the connection', async () => {
  const proxy = await proxyTo(await listen(http.createServer(echo)));
  const answer = await request(
    proxy.http1,
    {
      method: 'POST',
      path: '/a%2fb?x=1',
      headers: {
        ...{ authorization: 'Bearer secret', connection: 'close, x-mine', 'x-mine': '1', 'x-kept': '2', te: 'gzip' },
        'x-forwarded-for': '198.51.100.7',
        'sec-websocket-protocol': 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
      },
    },
    'hello',
  );
  expect(answer).toMatchObject({ code: 200, headers: { 'x-upstream': 'a, b' }, isComplete: true });
  const { method, url, rawHeaders, body } = echoed(answer);
  expect({ method, url, body }).toEqual({ method: 'POST', url: '/a%2fb?x=1', body: 'hello' });
  expect(rawHeaders.join('\n')).not.toMatch(/secret|x-mine|c2VjcmV0|gzip/i);
  expect(rawHeaders).toEqual(expect.arrayContaining(['x-kept', '2', 'X-Forwarded-For', '198.51.100.7, 192.0.2.1']));
  expect(rawHeaders).toEqual(expect.arrayContaining(['sec-websocket-protocol', 'v5.channel.k8s.io']));
});

it.each(['GET', 'DELETE', 'POST'])('a body of %s without a length is framed as chunks', async (method) => {
  const proxy = await proxyTo(await listen(http.createServer(echo)));
  const answer = await request(
    proxy.http1,
    { method, headers: { 'transfer-encoding': 'chunked' } },
    'GET /x HTTP/1.1\r\n\r\n',
  );
  expect(echoed(answer)).toMatchObject({ method, body: 'GET /x HTTP/1.1\r\n\r\n' });
});

it('forwards a request of HTTP/2 with its authority, cookies and body', async () => {
  const proxy = await proxyTo(await listen(http.createServer(echo)));
  const session = http2.connect(`http://127.0.0.1:${proxy.http2}`);
  closing.push(() => session.destroy());
  const stream = session.request({
    ':method': 'PUT',
    ':path': '/p',
    ':authority': 'example.org',
    cookie: ['a=1', 'b=2'],
  });
  stream.end('body');
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  const read: Buffer[] = [];
  for await (const bytes of stream) read.push(bytes as Buffer);
  const { rawHeaders, body } = JSON.parse(Buffer.concat(read).toString()) as { rawHeaders: string[]; body: string };
  expect([head[':status'], head['x-upstream'], body]).toEqual([200, 'a, b', 'body']);
  expect(rawHeaders).toEqual(expect.arrayContaining(['Host', 'example.org', 'Cookie', 'a=1; b=2']));
  expect(rawHeaders.some((name) => name.startsWith(':'))).toBe(false);
});

it.each<[string, number, string, string]>([
  ['HEAD with a length', 200, 'HEAD', ''],
  ['204 No Content', 204, 'GET', ''],
  ['304 Not Modified', 304, 'GET', ''],
])('an answer to %s has no body', async (_what, code, method, body) => {
  const port = await listen(
    http.createServer((_request, response) => {
      response.writeHead(code, method === 'HEAD' ? { 'content-length': 5 } : {});
      response.end();
    }),
  );
  const answer = await request((await proxyTo(port)).http1, { method });
  expect(answer).toMatchObject({ code, body, isComplete: true });
});

it('the head and each event of a stream arrive before its end', async () => {
  let next: (() => void) | undefined;
  const port = await listen(
    http.createServer((_request, response) => {
      response.writeHead(200);
      response.flushHeaders();
      next = () => response.write('event\n');
    }),
  );
  const proxy = await proxyTo(port);
  const sent = http.get({ port: proxy.http1, host: '127.0.0.1', agent: false });
  const [answer] = (await once(sent, 'response')) as [http.IncomingMessage];
  next!();
  expect(String((await once(answer, 'data'))[0])).toBe('event\n');
  sent.on('error', () => undefined);
  sent.destroy();
});

it('a client that leaves aborts the request of the server', async () => {
  let aborted: Promise<unknown> | undefined;
  const arrived = new Promise<void>((resolve) => {
    void listen(
      http.createServer((_incoming, response) => {
        aborted = once(response, 'close');
        resolve();
      }),
    ).then(async (port) => {
      const sent = http.get({ port: (await proxyTo(port)).http1, host: '127.0.0.1', agent: false });
      sent.on('error', () => undefined);
      void arrived.then(() => sent.destroy());
    });
  });
  await arrived;
  await aborted;
});

it.each<[string, (socket: net.Socket) => void, RegExp]>([
  ['garbage', (socket) => socket.end('\0\0garbage\r\n\r\n'), /^answer: malformed HTTP response/],
  [
    'a head of 10 MB',
    (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(10_000_000)}\r\n\r\n`),
    /^answer: .*headers exceeded/,
  ],
  [
    'an unasked 101',
    (socket) => socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    /^answer: the server switched/,
  ],
  ['nothing', (socket) => socket.end(), /^answer: EOF/],
  [
    'a status that is none',
    (socket) => socket.end('HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n'),
    /^answer: malformed/,
  ],
])('a server that answers %s gets 502, and the proxy goes on', async (_what, answer, want) => {
  const proxy = await proxyTo(await rawServer(answer));
  expect(await request(proxy.http1)).toMatchObject({ code: 502 });
  expect(proxy.outcomes).toEqual([expect.stringMatching(want)]);
  expect(await request(proxy.http1)).toMatchObject({ code: 502 });
});

it('a status beyond 599 is refused before the answer to a client of HTTP/2 begins', async () => {
  const port = await rawServer((socket) => socket.end('HTTP/1.1 600 X\r\ncontent-length: 0\r\n\r\n'));
  const proxy = await proxyTo(port);
  const session = http2.connect(`http://127.0.0.1:${proxy.http2}`);
  closing.push(() => session.destroy());
  const [headers] = (await once(session.request({}).resume(), 'response')) as [http2.IncomingHttpHeaders];
  expect([headers[':status'], proxy.outcomes]).toEqual([502, ['answer: malformed HTTP response']]);
  expect((await request(proxy.http1)).code).toBe(600);
});

it.each<[string, string]>([
  ['within its length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ['within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf'],
  ['with a malformed chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n'],
])('an answer that ends %s is cut', async (_what, bytes) => {
  const proxy = await proxyTo(await rawServer((socket) => socket.end(bytes)));
  const answer = await request(proxy.http1).catch((error: unknown) => error);
  // The connection may be cut before the client has read the head.
  if (answer instanceof Error) expect(answer.message).toMatch(/hang up|ECONNRESET/);
  else expect(answer).toMatchObject({ code: 200, isComplete: false });
});

it('headers named like parts of a prototype are forwarded as others', async () => {
  const port = await rawServer((socket) =>
    socket.end('HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 2\r\n\r\nok'),
  );
  const answer = await request((await proxyTo(port)).http1);
  expect(answer).toMatchObject({ code: 200, body: 'ok' });
  expect(answer.headers['constructor']).toBe('y');
});

it('a closed port is reported as a Go client does', async () => {
  const port = await listen(net.createServer());
  closing.splice(0).forEach((close) => close());
  const proxy = await proxyTo(port);
  await request(proxy.http1);
  expect(proxy.outcomes).toEqual([`dial: dial tcp 127.0.0.1:${port}: connect: connection refused`]);
});

it.each(['127.0.0.1', 'localhost', '127.1', '::ffff:127.0.0.1', '0.0.0.0'])(
  'a loopback address written as %s is refused',
  async (host) => {
    const port = await listen(http.createServer(echo));
    const proxy = await proxyTo(port, { permits: isGlobalUnicast, host });
    await request(proxy.http1);
    expect(proxy.outcomes).toEqual(['address: address not allowed']);
  },
);

it('an idle connection is used again, and a request on one that was closed is repeated', async () => {
  let connections = 0;
  let requests = 0;
  const server = http.createServer((incoming, response) => {
    requests++;
    if (requests === 3) return void incoming.socket.destroy();
    response.end('ok');
  });
  server.on('connection', () => connections++);
  const proxy = await proxyTo(await listen(server));
  for (let i = 0; i < 3; i++) expect(await request(proxy.http1)).toMatchObject({ code: 200, body: 'ok' });
  expect([requests, connections]).toEqual([4, 2]);
});

it.each<[string, boolean]>([
  ['10.0.0.1', true],
  ['192.168.1.1', true],
  ['8.8.8.8', true],
  ['fd00::1', true],
  ['2001:db8::1', true],
  ['::ffff:10.0.0.1', true],
  ['127.0.0.1', false],
  ['127.255.0.1', false],
  ['169.254.169.254', false],
  ['::ffff:169.254.169.254', false],
  ['::ffff:7f00:1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['ff02::1', false],
  ['010.0.0.1', false],
  ['', false],
  ['example.org', false],
])('forwarding to address "%s" is allowed: %s', (address, want) => expect(isGlobalUnicast(address)).toBe(want));
