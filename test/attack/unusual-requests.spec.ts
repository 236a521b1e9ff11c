import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { SeededRng } from '../../src/std/rng.js';
import type { Logger } from '../../src/std/logger.js';
import { HttpClient } from '../harness/http-client.js';
import { frameType, RawHttp2 } from './raw-http2.js';

// Requests without a route: each is answered like any unknown path or method, counted and logged.

const logged: { method?: string; url?: string; code?: number }[] = [];
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
// An unhandled request would be logged as an internal error.
afterEach(() => expect(errors).toEqual([]));

interface Answer {
  readonly code: number;
  readonly text: string;
}

async function http1(line: string, { as = 'administrator', headers = ['host: a'] } = {}): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.client;
  const own = as === 'administrator' ? { cert, key } : {};
  const socket = connectTls({ host: hostname, port: Number(port), ca: server.ca, ...own, ALPNProtocols: ['http/1.1'] });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'secureConnect');
  socket.write([`${line} HTTP/1.1`, ...headers, 'connection: close', '', ''].join('\r\n'));
  await once(socket, 'close');
  return { code: Number(text.slice(9, 12)), text };
}

async function h2(fields: Readonly<Record<string, string>>): Promise<Answer | 'reset'> {
  const client = await RawHttp2.connect(server);
  client.headers(1, fields);
  const ends = ({ type, stream, flags }: RawHttp2['frames'][number]) =>
    stream === 1 && (type === frameType.reset || (type === frameType.data && (flags & 1) === 1));
  await client.until(() => client.frames.some(ends), 20_000);
  client.destroy();
  const data = client.frames.filter(({ type, stream }) => type === frameType.data && stream === 1);
  if (data.length === 0) return 'reset';
  const text = Buffer.concat(data.map(({ payload }) => payload)).toString();
  return { code: (JSON.parse(text) as { code?: number }).code ?? 200, text };
}

/** Counts of answers in the metrics by status code, without the requests for /metrics itself. */
async function counted(): Promise<Record<string, number>> {
  const { text } = await admin.get('/metrics');
  const counts: Record<string, number> = {};
  for (const [line, code, count] of text.matchAll(/^apiserver_request_total\{.*code="(\d+)".*\} (\d+)$/gm)) {
    if (line.includes('subresource="/metrics"')) continue;
    counts[code!] = (counts[code!] ?? 0) + Number(count);
  }
  return counts;
}

const rows: readonly (readonly [line: string, code: number, text: string])[] = [
  // Outside of /api and /apis unknown paths are answered with text, as kube-apiserver does.
  ['GET *', 404, '404 page not found'],
  ['OPTIONS *', 404, '404 page not found'],
  ['GET http://other/api/v1/pods', 200, '"kind":"PodList"'],
  ['GET http://other', 200, '"paths"'],
  ['GET http://other?watch=1', 200, '"paths"'],
  ['GET https://other/nope', 404, '404 page not found'],
  ['CONNECT other:443', 405, '"reason":"MethodNotAllowed"'],
  ['PROPFIND /api/v1/pods', 405, '"reason":"MethodNotAllowed"'],
  ['TRACE /api/v1/pods', 405, '"reason":"MethodNotAllowed"'],
  ['PURGE /nope', 404, '404 page not found'],
  ['GET /api/v1/namespaces/%zz/pods', 400, 'invalid URL escape'],
  ['GET /api/v1/namespaces/%ff/pods', 200, '"kind":"PodList"'],
  ['GET /metrics#x', 404, '404 page not found'],
  [`GET /${'x'.repeat(5_000)}`, 404, '404 page not found'],
  [`GET /api/v1/namespaces/${'x'.repeat(5_000)}/pods`, 200, '"kind":"PodList"'],
];

describe.each(rows.map(([line, ...rest]) => [line.slice(0, 60), line, ...rest] as const))(
  'HTTP/1.1 %s',
  (_name, line, code, text) => {
    it(`is answered with ${code}, counted and logged`, async () => {
      const before = (await counted())[code] ?? 0;
      const answer = await http1(line);
      expect([answer.code, answer.text]).toEqual([code, expect.stringContaining(text)]);
      expect(answer.text).not.toContain('TypeError');
      expect((await counted())[code]! - before).toBeGreaterThanOrEqual(1);
      const [method, url] = line.split(' ');
      expect(logged).toContainEqual(expect.objectContaining({ method, url, code }));
    });

    it('requires authentication', async () => {
      const { code: refused } = await http1(line, { as: 'nobody' });
      expect(refused).toBe(line.startsWith('CONNECT') ? 405 : 401);
    });
  },
);

test.each([
  [{ ':method': 'BREW', ':path': '/api/v1/pods' }, 405],
  [{ ':method': 'BREW', ':path': '/api/nope' }, 404],
  [{ ':method': 'CONNECT', ':path': '', ':scheme': '' }, 405],
  [{ ':path': '/api/v1/namespaces/%zz/pods' }, 400],
])('HTTP/2 %j is answered with %i, counted and logged', async (fields, code) => {
  const before = (await counted())[code] ?? 0;
  expect(await h2(fields as never)).toMatchObject({ code });
  expect((await counted())[code]! - before).toBeGreaterThanOrEqual(1);
  expect(logged).toContainEqual(
    expect.objectContaining({ method: (fields as Record<string, string>)[':method'] ?? 'GET', code }),
  );
});

test.each([[{ ':path': '' }], [{ ':path': '*' }], [{ ':path': 'nope' }], [{ ':scheme': '' }], [{ ':method': '' }]])(
  'HTTP/2 %j is malformed: its stream is reset',
  async (fields) => {
    expect(await h2(fields as never)).toBe('reset');
  },
);

test('an unsupported upgrade is answered as the request without it', async () => {
  const headers = ['host: a', 'upgrade: websocket'];
  expect((await http1('GET /api/v1/pods', { headers })).code).toBe(200);
});

test('an unknown method of an allowed origin is not a preflight', async () => {
  const own = await startKeelson({ config: { serving: { corsAllowedOrigins: ['^https://a\\.io$'] } } });
  const client = new HttpClient({ ...own, ...own.client });
  expect((await client.request('PROPFIND', '/api/v1/pods', { headers: { origin: 'https://a.io' } })).code).toBe(405);
  client.close();
  await own.stop();
});

test('random methods and targets get a Status or a text, never an internal error', async () => {
  const seed = Number(process.env['SEED'] ?? 20261122);
  const rng = new SeededRng(seed);
  const pick = <T>(of: readonly T[]): T => of[rng.below(of.length)]!;
  const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'M-SEARCH', 'QUERY', 'CONNECT'];
  const parts = [
    '*',
    '/',
    '//',
    'api',
    'apis',
    'v1',
    'pods',
    '%',
    '%2f',
    '%00',
    '%ff',
    '#',
    '?',
    ';',
    ':',
    '@',
    '..',
    'http://',
    'a',
    '\\',
    '~',
  ];
  for (let n = 0; n < 150; n++) {
    const target =
      pick(['/', '/', 'http://a/', '*', '']) + Array.from({ length: rng.below(6) }, () => pick(parts)).join('');
    const { code } = await http1(`${pick(methods)} ${target || '/'}`);
    expect([seed, target, code >= 200 && code < 500]).toEqual([seed, target, true]);
  }
});
