import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { systemClock } from '../std/clock.js';
import type { KubeconfigClient } from './kubeconfig-client.js';
import { openKubeconfigClient } from './open-client.js';

/** The client with servers that misbehave. */
let server: Server;
let client: KubeconfigClient;
let kubeconfig: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const seen: {
  readonly headers: IncomingMessage['headers'];
  readonly url: string | undefined;
  readonly port: number;
}[] = [];

beforeAll(async () => {
  const pki = await makeEphemeralPki({ clock: systemClock });
  const { certificate, key } = pki.serving!.current();
  server = createServer({ cert: certificate, key }, (request, response) => {
    seen.push({ headers: request.headers, url: request.url, port: request.socket.remotePort ?? 0 });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  kubeconfig = pki
    .adminKubeconfig(`https://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`)
    .replace(/ {4}client-certificate-data[^]*$/, '    token: the-token\n');
  client = await openKubeconfigClient({ text: kubeconfig });
});
beforeEach(() => void seen.splice(0));
afterAll(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const get = (options = {}) => client.request({ method: 'GET', path: '/x', ...options });

it('the path of server comes before the path of a request, and the query is encoded', async () => {
  answer = (_request, response) => response.end('{}');
  await client.get('/x?a=1', { query: { fieldSelector: 'metadata.name=a&b', watch: false } });
  expect(seen[0]?.url).toBe('/prefix/x?a=1&fieldSelector=metadata.name%3Da%26b&watch=false');
  expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer the-token', accept: 'application/json' });
});

it('an empty path is that of server', async () => {
  answer = (_request, response) => response.end('{}');
  await get({ path: '' });
  await get({ path: '', query: { timeout: '30s' } });
  const atRoot = await openKubeconfigClient({ text: kubeconfig.replace('/prefix/', '') });
  await atRoot.request({ method: 'POST', path: '', query: { timeout: '30s' } });
  atRoot.close();
  expect(seen.map(({ url }) => url)).toEqual(['/prefix', '/prefix?timeout=30s', '/?timeout=30s']);
});

it('one connection serves requests one after the other', async () => {
  answer = (_request, response) => response.end('{}');
  await get();
  await get();
  expect(new Set(seen.map(({ port }) => port)).size).toBe(1);
});

it('an answer 429 with Retry-After is retried if retriesMax allows it', async () => {
  const left = [429, 503];
  answer = (_request, response) => {
    const status = left.shift();
    if (status === undefined) return void response.end('done');
    response.writeHead(status, { 'Retry-After': '0' }).end('wait');
  };
  expect((await get({ retriesMax: 5 })).body.toString()).toBe('done');
  left.push(429, 429);
  expect((await get({ retriesMax: 1 })).status).toBe(429);
  expect((await get()).status).toBe(200);
  left.push(429);
  expect((await get()).status).toBe(429);
});

it('an answer 503 without Retry-After is not retried', async () => {
  answer = (_request, response) => response.writeHead(503).end();
  expect((await get({ retriesMax: 5 })).status).toBe(503);
  expect(seen).toHaveLength(1);
});

it('an answer 401 to a fixed token is returned after one request', async () => {
  answer = (_request, response) => response.writeHead(401).end();
  expect((await get()).status).toBe(401);
  expect(seen).toHaveLength(1);
});

it('a body beyond responseBytesMax is refused', async () => {
  answer = (_request, response) => response.end('x'.repeat(2_000_000));
  await expect(get({ responseBytesMax: 1_000 })).rejects.toMatchObject({
    code: 'TooLarge',
    message: expect.stringMatching(/^GET https:\/\/127\.0\.0\.1:\d+\/x: the answer has more than 1000 bytes/),
  });
});

it('a server that does not answer, or not to the end, is a timeout', async () => {
  answer = () => undefined;
  await expect(get({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'Timeout' });
  answer = (_request, response) => void response.write('{');
  await expect(get({ timeoutMs: 50 })).rejects.toThrow(/x: no answer in 50 ms; check the server, or allow more time$/);
});

it('the signal of a caller ends a request with its reason', async () => {
  answer = () => undefined;
  const stop = new AbortController();
  const request = get({ signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(request).rejects.toThrow('enough');
  await expect(get({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
});

it('a read is repeated if the server has closed the idle connection; a write only if it is repeatable', async () => {
  answer = (_request, response) => response.end('{}');
  await get();
  answer = (request, response) => {
    answer = (_request, again) => again.end('second');
    if (request.method === 'GET') request.socket.destroy();
    else response.destroy();
  };
  expect((await get()).body.toString()).toBe('second');
  answer = (request) => void request.socket.destroy();
  const post = { method: 'POST', path: '/x', body: '{}' };
  await expect(client.request(post)).rejects.toMatchObject({
    code: 'Connection',
    message: expect.stringMatching(/^POST .*: the server closed the connection; send the request again$/),
  });
  answer = (_request, response) => response.end('{}');
  await get();
  answer = (request) => {
    answer = (_request, again) => again.end('second');
    request.socket.destroy();
  };
  expect((await client.request({ ...post, isRepeatable: true })).body.toString()).toBe('second');
});

it('an answer of a proxy is an error with its first characters', async () => {
  answer = (_request, response) => response.writeHead(502).end(`<html>${'x'.repeat(1_000)}`);
  await expect(client.get('/x')).rejects.toMatchObject({
    status: 502,
    message: expect.stringMatching(/\/x: 502: <html>x{194}$/),
  });
  answer = (_request, response) => response.end('<html>');
  await expect(client.get('/x')).rejects.toThrow('the answer is not JSON; check server in the kubeconfig');
});

it('a hostile answer does not change prototypes', async () => {
  answer = (_request, response) => response.end('{"__proto__": {"polluted": true}}');
  await expect(client.get('/x')).rejects.toThrow('the answer is not JSON');
  expect({}).not.toHaveProperty('polluted');
});

it('events of a watch may arrive in any pieces', async () => {
  const text = '{"type":"ADDED","object":{"a":"ü"}}\n{"type":"DELETED","object":{}}\n';
  answer = (_request, response) => {
    const bytes = [...Buffer.from(text)];
    const next = () => (bytes.length > 0 ? response.write(Buffer.from(bytes.splice(0, 7)), next) : response.end());
    next();
  };
  const events = [];
  for await (const event of client.watch('/x')) events.push(event);
  expect(events).toEqual([
    { type: 'ADDED', object: { a: 'ü' } },
    { type: 'DELETED', object: {} },
  ]);
});

it('a path that is not one is refused before it is sent', async () => {
  await expect(get({ path: 'api' })).rejects.toThrow('the path must begin with "/"');
  await expect(get({ path: '/a b' })).rejects.toThrow('the path contains characters that must be percent-encoded');
  expect(seen).toEqual([]);
});
