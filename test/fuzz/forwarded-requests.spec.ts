import { once } from 'node:events';
import * as net from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SeededRng } from '../../src/std/rng.js';
import { itWithAddress, ownAddress, startKubelet, type TestKubelet } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Malformed and hostile requests for Pods, Services and nodes, on sockets of their own.

const seed = Number(process.env['SEED'] ?? 22);
const rng = new SeededRng(seed);
const itReaches = itWithAddress();
const address = ownAddress() ?? '192.0.2.1';
const namespace = '/api/v1/namespaces/default';

let kubelet: TestKubelet;
let server: TestServer;
/** A server of this machine that no object names with an address that proxies may reach. */
let trap: net.Server;
let trapped = 0;
let trapPort: number;
const crashes: unknown[] = [];
const crashed = (error: unknown) => void crashes.push(error);

beforeAll(async () => {
  process.on('uncaughtException', crashed);
  process.on('unhandledRejection', crashed);
  trap = net.createServer((socket) => {
    trapped++;
    socket.destroy();
  });
  trap.listen(0, '127.0.0.1');
  await once(trap, 'listening');
  trapPort = (trap.address() as net.AddressInfo).port;
  kubelet = await startKubelet();
  const { caFile, clientCertFile, clientKeyFile } = kubelet.certificates;
  const kubelets = { certificateAuthority: caFile, clientCertificate: clientCertFile, clientKey: clientKeyFile };
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { kubelets: { ...kubelets, preferredAddressTypes: ['InternalIP'] } } },
  );
  await addNode('node', address, kubelet.port);
  await addNode('trap', '127.0.0.1', trapPort);
  await addPod('pod', address);
  await addPod('trap', '127.0.0.1');
  for (const [name, ip] of Object.entries({ shop: address, trap: '127.0.0.1' })) {
    const spec = { ports: [{ name: 'web', port: 443 }] };
    await server.admin.post(`${namespace}/services`, { metadata: { name }, spec });
    const targetRef = { kind: 'Pod', namespace: 'default', name: 'pod' };
    const subsets = [{ addresses: [{ ip, targetRef }], ports: [{ name: 'web', port: kubelet.port }] }];
    const made = await server.admin.post(`${namespace}/endpoints`, { metadata: { name }, subsets });
    // Endpoints refuse loopback themselves.
    expect([201, 422]).toContain(made.code);
  }
  kubelet.handler = (request, response) => {
    request.resume();
    // Redirects are not followed.
    response.writeHead(rng.below(4) === 0 ? 302 : 200, { location: `http://127.0.0.1:${trapPort}/` });
    response.end('from the node');
  };
  kubelet.upgraded = (request, socket) => {
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${request.headers.upgrade}\r\n\r\nbytes`,
    );
  };
});
afterAll(async () => {
  kubelet.stop();
  trap.close();
  await server.stop();
  process.off('uncaughtException', crashed);
  process.off('unhandledRejection', crashed);
});

async function addNode(name: string, host: string, port: number): Promise<void> {
  await server.admin.post('/api/v1/nodes', { metadata: { name } });
  const status = {
    addresses: [{ type: 'InternalIP', address: host }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  expect((await server.admin.patch(`/api/v1/nodes/${name}/status`, { status })).code).toBe(200);
}

async function addPod(name: string, ip: string): Promise<void> {
  const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: kubelet.port }] }] };
  expect((await server.admin.post(`${namespace}/pods`, { metadata: { name }, spec })).code).toBe(201);
  const status = { podIP: ip, podIPs: [{ ip }] };
  expect((await server.admin.patch(`${namespace}/pods/${name}/status`, { status })).code).toBe(200);
}

const pick = <T>(from: readonly T[]): T => from[rng.below(from.length)]!;
const several = <T>(from: readonly T[], max: number) => Array.from({ length: rng.below(max + 1) }, () => pick(from));

function requestTarget(): string {
  const trapUrl = `http://127.0.0.1:${trapPort}/`;
  const names = ['node', 'trap', 'pod', 'shop:web', 'trap:web', 'https:node:', `https:node:${trapPort}`, 'https:pod:', 'none', `127.0.0.1:${trapPort}`, `node%3A${trapPort}`, '..', '%2e%2e', 'a%00b', '%zz', 'http:trap:web']; // prettier-ignore
  const pieces = ['..', '%2e%2e', '%2f', '%5c', '%00', '%0d%0aHost:%20a', '/', '//', trapUrl, `@127.0.0.1:${trapPort}`, '%', '%zz', '?', '#', ';', '\\', '%ff', '\xe9', '*', '[::1]', 'a'.repeat(300)]; // prettier-ignore
  const queries = ['command=a', 'container=c', 'container=../c', 'follow=true', 'tailLines=-1', 'sinceTime=x', 'limitBytes=99999999999999999999', 'stdin=1', 'stdout=1', 'tty=1', 'ports=80', 'ports=x', 'path=/x', `path=${trapUrl}`, 'dryRun=All', 'fieldValidation=x', '%zz=%', 'a&&=', `timeout=1x`, 'watch=1', 'insecureSkipTLSVerifyBackend=true']; // prettier-ignore
  const root = pick(['/api/v1/nodes/', `${namespace}/pods/`, `${namespace}/services/`, '/api/v1/proxy/nodes/']);
  const sub = pick(['/proxy', '/proxy/', '/log', '/exec', '/attach', '/portforward', '/proxy/x']);
  const query = several(queries, 3).join('&');
  const path = `${root}${pick(names)}${sub}${several(pieces, 3).join('')}${query && `?${query}`}`;
  return rng.below(8) === 0
    ? `${pick(['http', 'https', 'ftp', ''])}://${pick(['a', `127.0.0.1:${trapPort}`])}${path}`
    : path;
}

function requestBytes(): Buffer {
  const method = pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PURGE', 'x']); // prettier-ignore
  const socketKey = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  const lines = ['Upgrade: websocket', 'Upgrade: SPDY/3.1', 'Upgrade: h2c', 'Upgrade:', 'Connection: Upgrade', 'Connection: upgrade, host, content-length', 'Connection: close, x-forwarded-for, authorization', socketKey, 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: x', 'Sec-WebSocket-Protocol: v5.channel.k8s.io', 'Sec-WebSocket-Protocol: binary.k8s.io', 'Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io', 'Sec-WebSocket-Protocol: ,,\xff', 'X-Forwarded-For: 127.0.0.1', `X-Forwarded-Host: 127.0.0.1:${trapPort}`, `Forwarded: for=127.0.0.1`, 'Expect: 100-continue', 'Expect: x', 'TE: trailers', 'Trailer: x', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x', 'Content-Length: 3', 'Content-Length: 0', 'Content-Length: -1', 'Content-Length: 9999999999', 'Accept-Encoding: gzip', 'Range: bytes=0-', 'X-Nul: a\x01b', 'Bad Name: x', ': x', `Cookie: ${'c'.repeat(2000)}`, 'Audit-ID: \xff', 'traceparent: 00-x']; // prettier-ignore
  const host = pick(['Host: a', 'Host: a', 'Host: a', '', 'Host:', `Host: 127.0.0.1:${trapPort}`, 'Host: a b', 'Host: a\r\nHost: b', 'Host: http://x/@']); // prettier-ignore
  const webSocket = ['Connection: Upgrade', 'Upgrade: websocket', socketKey, 'Sec-WebSocket-Version: 13'];
  const head = [
    `${method} ${requestTarget()} HTTP/1.${rng.below(10) === 0 ? 0 : 1}`,
    ...(host === '' ? [] : [host]),
    ...(rng.below(4) === 0 ? webSocket : []),
    ...several(lines, 4),
  ];
  const body = pick(['', '', '', 'abc', '3\r\nabc\r\n0\r\n\r\n', 'zz\r\n', '\x82\x81\x00\x00\x00\x00\x00']);
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

/** Sends bytes, and returns what is answered until the connection closes or is silent. */
async function exchange(bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.keelson.client;
  const { ca } = server.keelson;
  const socket = connectTls({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  let text = '';
  let silence: NodeJS.Timeout | undefined;
  const ended = new Promise<void>((resolve) => {
    const wait = (ms: number) => {
      clearTimeout(silence);
      silence = setTimeout(resolve, ms);
    };
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      wait(100);
    });
    socket.once('close', () => resolve());
    wait(2_000);
  });
  socket.write(bytes);
  await ended;
  clearTimeout(silence);
  socket.destroy();
  return text;
}

/** Errors of a Service without endpoints, of a port that is closed or speaks another protocol: not of the request. */
const ofUpstream =
  /no endpoints available|no service port|error trying to reach service|error dialing backend|invalid upgrade response|redirects forbidden|Get "https:|remote error: tls|"message":"EOF"/;

itReaches(`hostile requests are never errors of the server, and reach no other address (seed ${seed})`, async () => {
  const mistakes: string[] = [];
  const codes = new Map<number, number>();
  const send = async () => {
    const bytes = requestBytes();
    const answer = await exchange(bytes);
    const code = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    // Answers to HEAD have no message.
    const isUpstream = ofUpstream.test(answer) || (code === 503 && bytes.toString('latin1').startsWith('HEAD'));
    if (code >= 500 && !isUpstream) mistakes.push(`${bytes.toString('latin1')}\n=> ${answer.slice(0, 600)}`);
  };
  for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 10 }, send));
  expect(mistakes).toEqual([]);
  expect(trapped).toBe(0);
  expect(crashes).toEqual([]);
  // Some requests are valid.
  expect(codes.get(200)).toBeGreaterThan(0);
  expect((await server.admin.get('/livez')).code).toBe(200);
});
