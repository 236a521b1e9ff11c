import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { startKubelet, type TestKubelet } from '../harness/kubelet.js';
import type { HttpClient } from '../harness/http-client.js';

// Connections to the kubelet of a Pod's node: logs, and upgraded streams.

const pods = '/api/v1/namespaces/default/pods';
let kubelet: TestKubelet;
let server: TestServer;
let clients: Readonly<Record<'http/1.1' | 'h2', HttpClient>>;

beforeAll(async () => {
  kubelet = await startKubelet();
  const { caFile, clientCertFile, clientKeyFile } = kubelet.certificates;
  const kubelets = { certificateAuthority: caFile, clientCertificate: clientCertFile, clientKey: clientKeyFile };
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { kubelets: { ...kubelets, preferredAddressTypes: ['InternalIP'] } } },
  );
  clients = { 'http/1.1': server.admin, h2: server.client({ ...server.keelson.client, protocol: 'h2' }) };
  await addNode('node', kubelet.port);
  await addNode('closed', 1);
  await server.admin.post('/api/v1/nodes', { metadata: { name: 'bare' } });
  for (const nodeName of ['node', 'closed', 'bare', 'gone', undefined]) {
    const spec = { containers: [{ name: 'c', image: 'i' }], ...(nodeName !== undefined && { nodeName }) };
    expect((await server.admin.post(pods, { metadata: { name: `on-${nodeName}` }, spec })).code).toBe(201);
  }
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
  const spec = { containers, initContainers: [{ name: 'init', image: 'i' }], nodeName: 'node' };
  expect((await server.admin.post(pods, { metadata: { name: 'two' }, spec })).code).toBe(201);
});
afterAll(async () => {
  kubelet.stop();
  await server.stop();
});
beforeEach(() => {
  kubelet.urls.length = 0;
  kubelet.handler = (_request, response) => response.end('line\n');
});

async function addNode(name: string, port: number): Promise<void> {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await server.admin.post('/api/v1/nodes', { metadata: { name } });
  expect((await server.admin.patch(`/api/v1/nodes/${name}/status`, { status })).code).toBe(200);
}

describe.each(['http/1.1', 'h2'] as const)('over %s', (protocol) => {
  it('a log is the text of the kubelet, which gets the options', async () => {
    const query = 'follow=true&previous=1&sinceSeconds=5&timestamps=true&tailLines=0&limitBytes=9&pretty=true&other=1';
    const answer = await clients[protocol].get(`${pods}/two/log?container=init&${query}`);
    expect([answer.code, answer.text, answer.headers['content-type']]).toEqual([200, 'line\n', 'text/plain']);
    expect(kubelet.urls).toEqual([
      'GET /containerLogs/default/two/init?follow=true&limitBytes=9&previous=true&sinceSeconds=5&tailLines=0&timestamps=true',
    ]);
    expect(kubelet.headers).not.toHaveProperty('authorization');
  });

  it('the time of a log is sent to the kubelet in UTC and whole seconds', async () => {
    const query = 'container=a&sinceTime=2026-02-03T04:05:06.789%2B01:00&limitBytes=1';
    expect((await clients[protocol].get(`${pods}/two/log?${query}`)).code).toBe(200);
    expect(kubelet.urls).toEqual(['GET /containerLogs/default/two/a?limitBytes=1&sinceTime=2026-02-03T03%3A05%3A06Z']);
  });

  it('the lines of a followed log arrive as they are written, and leaving ends it at the kubelet', async () => {
    let next: () => void = () => undefined;
    let left: Promise<unknown> | undefined;
    kubelet.handler = (_request, response) => {
      next = () => response.write('next\n');
      left = once(response, 'close');
      response.write('first\n');
    };
    const answer = await clients[protocol].open('GET', `${pods}/on-node/log?follow=true`);
    expect(String((await once(answer.body, 'data'))[0])).toBe('first\n');
    next();
    expect(String((await once(answer.body, 'data'))[0])).toBe('next\n');
    answer.cancel();
    await left;
  });

  it('a log that the kubelet drops half way is cut', async () => {
    let drop: () => void = () => undefined;
    kubelet.handler = (request, response) => {
      response.write('half');
      drop = () => request.socket.destroy();
    };
    const answer = await clients[protocol].open('GET', `${pods}/on-node/log`);
    answer.body.resume();
    drop();
    expect([answer.code, await answer.ended]).toEqual([200, 'cut']);
  });
});

it.each<[string, string, number, string, string | undefined]>([
  ['of an unscheduled Pod', 'on-undefined/log', 204, '', undefined],
  ['of a Pod on a node that is gone', 'on-gone/log', 404, 'nodes "gone" not found', 'NotFound'],
  ['on a node without address', 'on-bare/log', 500, 'no preferred addresses found; known addresses: []', undefined],
  ['of an unknown container', 'on-node/log?container=x', 400, 'container x is not valid for pod on-node', 'BadRequest'],
  [
    'without container of a Pod with two',
    'two/log',
    400,
    'a container name must be specified for pod two, choose one of: [init a b]',
    'BadRequest',
  ],
  [
    'with a negative number of lines',
    'on-node/log?tailLines=-1',
    422,
    'PodLogOptions "on-node" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    'Invalid',
  ],
  [
    'with no bytes',
    'on-node/log?limitBytes=0',
    422,
    'PodLogOptions "on-node" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    'Invalid',
  ],
  [
    'with a number that is none',
    'on-node/log?tailLines=x',
    400,
    'strconv.ParseInt: parsing "x": invalid syntax',
    'BadRequest',
  ],
  [
    'with a number over int64',
    'on-node/log?tailLines=9223372036854775808',
    400,
    'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    'BadRequest',
  ],
  [
    'at a closed port',
    'on-closed/log',
    500,
    'Get "https://127.0.0.1:1/containerLogs/default/on-closed/c": dial tcp 127.0.0.1:1: connect: connection refused',
    undefined,
  ],
])('a log %s is answered as by kube-apiserver', async (_what, path, code, message, reason) => {
  const answer = await server.admin.get(`${pods}/${path}`);
  expect([answer.code, answer.body?.message ?? '', answer.body?.reason]).toEqual([code, message, reason]);
  expect(kubelet.urls).toEqual([]);
});

it.each<[number, string, object]>([
  [
    404,
    'x',
    { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource ( pods/log on-node)' },
  ],
  [403, 'Forbidden (user=u)', { code: 403, reason: 'Forbidden', message: 'Forbidden (user=u) ( pods/log on-node)' }],
  [
    400,
    'previous terminated container "c" not found',
    { code: 400, reason: 'BadRequest', message: 'previous terminated container "c" not found' },
  ],
  [500, 'broken', { code: 500, reason: 'InternalError', message: 'Internal error occurred: broken' }],
  [
    503,
    'x',
    {
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'the server is currently unable to handle the request ( pods/log on-node)',
    },
  ],
  [302, 'x', { code: 500, message: 'Get "https://169.254.169.254/": redirects forbidden' }],
])('a kubelet that answers %s to a log makes an error of it', async (code, text, want) => {
  kubelet.handler = (_request, response) => {
    response.writeHead(code, { location: 'https://169.254.169.254/' });
    response.end(text);
  };
  const { body } = await server.admin.get(`${pods}/on-node/log`);
  expect(body).toMatchObject(want);
});

it('an endless answer that is no success is read up to a limit', async () => {
  kubelet.handler = (_request, response) => {
    response.writeHead(500);
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', write);
    write();
  };
  const { code, body } = await server.admin.get(`${pods}/on-node/log`);
  expect([code, body.message.length]).toEqual([500, 'Internal error occurred: '.length + 50_000]);
});

/** Sends an upgrade, and returns the socket with the head of the answer. */
async function upgrade(
  line: string,
  headers: readonly string[] = [],
): Promise<{ socket: TLSSocket; text: () => string }> {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.keelson.client;
  const socket = connectTls({
    host: hostname,
    port: Number(port),
    ca: server.keelson.ca,
    cert,
    key,
    ALPNProtocols: ['http/1.1'],
  });
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  await once(socket, 'secureConnect');
  socket.write(
    [`${line} HTTP/1.1`, 'host: a', 'connection: Upgrade', 'upgrade: SPDY/3.1', ...headers, '', ''].join('\r\n'),
  );
  await once(socket, 'data');
  return { socket, text: () => text };
}

it.each<[string, string, string]>([
  [
    'exec',
    'exec?command=echo&command=a%20b&stdin=1&stdout=true&stderr=0&tty=true',
    '/exec/default/on-node/c?command=echo&command=a+b&input=1&output=1&tty=1',
  ],
  ['attach', 'attach?container=c&stderr=1', '/attach/default/on-node/c?error=1'],
  ['portforward', 'portforward?ports=80,81', '/portForward/default/on-node?port=80%2C81'],
])('%s is a tunnel to the kubelet, with its options', async (_what, path, want) => {
  kubelet.upgraded = (request, socket, head) => {
    const answer = ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', `upgrade: ${request.headers.upgrade}`];
    socket.write([...answer, 'x-stream-protocol-version: v4.channel.k8s.io', '', 'hello'].join('\r\n'));
    socket.write(head);
    socket.pipe(socket);
  };
  const { socket, text } = await upgrade(`POST ${pods}/on-node/${path}`, [
    'x-stream-protocol-version: v4.channel.k8s.io',
  ]);
  expect(kubelet.urls).toEqual([`POST ${want}`]);
  expect(kubelet.headers).toMatchObject({
    'x-stream-protocol-version': 'v4.channel.k8s.io',
    'x-forwarded-for': '127.0.0.1',
  });
  const payload = 'x'.repeat(300_000);
  socket.write(payload);
  while (!text().endsWith(`hello${payload}`)) await once(socket, 'data');
  expect(text()).toMatch(/^HTTP\/1\.1 101 /);
  expect(text()).toMatch(/\r\nupgrade: SPDY\/3\.1\r\n/i);
  const closed = once(socket, 'close');
  socket.end();
  await closed;
});

it.each<[string, string, RegExp]>([
  [
    '403',
    'HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nrefuse',
    /^HTTP\/1\.1 403 [^]*refuse$/,
  ],
  [
    'a success',
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    /^HTTP\/1\.1 500 [^]*invalid upgrade response: status code 200/,
  ],
  ['garbage', 'garbage\r\n\r\n', /^HTTP\/1\.1 500 [^]*malformed HTTP response/],
  ['nothing', '', /^HTTP\/1\.1 500 [^]*EOF/],
])('a kubelet that answers %s to an upgrade ends it with one answer', async (_what, bytes, want) => {
  kubelet.upgraded = (_request, socket) => socket.end(bytes);
  const { socket, text } = await upgrade(`GET ${pods}/on-node/exec?command=ls`);
  if (!socket.closed) await once(socket, 'close');
  expect(text()).toMatch(want);
  expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
});

it('an exec at a closed port reports the error of the dial', async () => {
  const { socket, text } = await upgrade(`POST ${pods}/on-closed/exec?command=ls`);
  if (!socket.closed) await once(socket, 'close');
  expect(text()).toMatch(
    /"message":"error dialing backend: dial tcp 127\.0\.0\.1:1: connect: connection refused","code":500/,
  );
});

it('an exec without an upgrade is refused (400)', async () => {
  const { code, body } = await server.admin.post(`${pods}/on-node/exec?command=ls`, '');
  expect([code, body.message]).toEqual([400, 'Upgrade request required']);
});
