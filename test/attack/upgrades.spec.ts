import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { startKeelson, type Keelson } from '../../src/testing.js';
import type { Logger } from '../../src/std/logger.js';
import { HttpClient } from '../harness/http-client.js';
import { eventually } from '../harness/eventually.js';

// Requests with an Upgrade header: on paths that connect they are authorized like others, elsewhere the header is ignored.

const logged: { url?: string; code?: number }[] = [];
const errors: unknown[] = [];
const quiet = () => undefined;
const logger: Logger = {
  debug: (message, fields) => void (message === 'request' && logged.push(fields as never)),
  info: quiet,
  warn: quiet,
  error: (message, fields) => void errors.push([message, fields]),
};

let server: Keelson;
let admin: HttpClient;
beforeAll(async () => {
  server = await startKeelson({ logger, config: { log: { level: 'debug' }, authentication: { anonymous: false } } });
  admin = new HttpClient({ ...server, ...server.client });
});
afterAll(async () => {
  admin.close();
  await server.stop();
});
beforeEach(() => {
  logged.length = errors.length = 0;
});
afterEach(() => expect(errors).toEqual([]));

async function connect(as: 'administrator' | 'nobody' = 'administrator'): Promise<TLSSocket> {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.client;
  const own = as === 'administrator' ? { cert, key } : {};
  const socket = connectTls({ host: hostname, port: Number(port), ca: server.ca, ...own, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends bytes, and returns all that arrives until the server closes the connection or `isEnd` holds. */
async function exchange(
  bytes: string,
  { as, isEnd }: { readonly as?: 'nobody'; readonly isEnd?: (text: string) => boolean } = {},
): Promise<string> {
  const socket = await connect(as);
  let text = '';
  socket.on('error', quiet);
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (isEnd?.(text)) resolve();
    });
    socket.once('close', () => resolve());
  });
  socket.write(bytes);
  await ended;
  socket.destroy();
  return text;
}

const upgrade = ['host: a', 'connection: Upgrade', 'upgrade: SPDY/3.1'];
const head = (line: string, ...headers: string[]) => [`${line} HTTP/1.1`, ...headers, '', ''].join('\r\n');
const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);
const exec = '/api/v1/namespaces/default/pods/none/exec';

it('a GET with a needless Upgrade header is served, and its connection is used again', async () => {
  const socket = await connect();
  let text = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // The next request is sent when the first one has been answered.
      if (text.endsWith('ok')) resolve();
      else if (/gitVersion[^]*\}\s*$/.test(text)) socket.write(head('GET /livez', 'host: a'));
    });
  });
  socket.write(head('GET /version', ...upgrade));
  await answered;
  expect(statusesOf(text)).toEqual(['200', '200']);
  socket.destroy();
});

it('a POST with a body and a needless Upgrade header creates the object (201)', async () => {
  const body = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'upgraded' } });
  const headers = ['content-type: application/json', `content-length: ${body.length}`];
  const text = await exchange(head('POST /api/v1/namespaces/default/configmaps', ...upgrade, ...headers) + body, {
    isEnd: (read) => read.includes('creationTimestamp'),
  });
  expect(statusesOf(text)).toEqual(['201']);
});

it.each<[string, string, 'nobody' | undefined, string]>([
  ['without credentials', head(`GET ${exec}?command=ls`, ...upgrade), 'nobody', '401'],
  ['for a missing Pod', head(`POST ${exec}?command=ls`, ...upgrade), undefined, '404'],
  ['with a body', `${head(`POST ${exec}?command=ls`, ...upgrade, 'content-length: 3')}abc`, undefined, '404'],
  ['with another method', head(`DELETE ${exec}`, ...upgrade), undefined, '405'],
])(
  'an upgrade to exec %s is refused with a Status, logged, and its connection closed',
  async (_what, bytes, as, code) => {
    const text = await exchange(bytes + head('GET /version', 'host: a'), { ...(as && { as }) });
    expect(statusesOf(text)).toEqual([code]);
    expect(text).toMatch(/connection: close[^]*"kind":"Status"/i);
    const ofExec = () => logged.filter(({ url }) => url?.includes('/exec'));
    await eventually('the request is logged', () => ofExec().length > 0);
    expect(ofExec()).toMatchObject([{ code: Number(code) }]);
  },
);

it.each(['CONNECT a:1', `GET ${exec}`])(
  'a pipelined "%s" behind an unanswered request ends the connection',
  async (line) => {
    const bytes = head('GET /api/v1/pods?watch=1', 'host: a') + head(line, ...upgrade);
    const text = await exchange(bytes);
    expect(statusesOf(text).length).toBeLessThanOrEqual(1);
    expect(await exchange(head('GET /livez', 'host: a', 'connection: close'))).toMatch(/ok$/);
  },
);

describe('a bearer token among the subprotocols of a WebSocket', () => {
  const protocol = 'base64url.bearer.authorization.k8s.io.';
  const webSocket = (protocols: string) => [
    ...['host: a', 'connection: keep-alive, Upgrade', 'upgrade: WebSocket', 'sec-websocket-version: 13'],
    `sec-websocket-protocol: ${protocols}`,
  ];
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  let token: string;
  beforeAll(async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    await admin.post(path, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'browser' } });
    const body = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} };
    const answer = await admin.post(`${path}/browser/token`, body);
    ({ token } = (answer.body as { status: { token: string } }).status);
  });

  it.each<[string, () => string, string]>([
    [
      'beside another subprotocol is authenticated (403)',
      () => `${protocol}${encode(token)}, v5.channel.k8s.io`,
      '403',
    ],
    ['without another subprotocol is rejected (401)', () => `${protocol}${encode(token)}`, '401'],
    ['that occurs twice is rejected (401)', () => `${protocol}${encode(token)}, ${protocol}${encode(token)}, x`, '401'],
    ['that is unknown is rejected (401)', () => `${protocol}${encode('other')}, x`, '401'],
    ['that is not base64url is rejected (401)', () => `${protocol}++++, x`, '401'],
    ['that is not UTF-8 is rejected (401)', () => `${protocol}_____w, x`, '401'],
    ['that is empty is rejected (401)', () => `${protocol}, x`, '401'],
  ])('%s', async (_what, protocols, code) => {
    expect(statusesOf(await exchange(head(`GET ${exec}`, ...webSocket(protocols())), { as: 'nobody' }))).toEqual([
      code,
    ]);
  });
});
