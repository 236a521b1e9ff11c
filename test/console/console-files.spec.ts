import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../src/config/config-files.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const folder = join(packageRoot, 'console');
const memory = { store: 'memory', naming: 'kubernetes' } as const;

/** Sends a request line as it is: the client of Node changes no path. Without credentials. */
function send(server: TestServer, path: string, { method = 'GET', headers = {} } = {}) {
  return new Promise<{ code: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ hostname, port, path, method, headers, ca: server.keelson.ca }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ code: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject).end();
  });
}

describe('the files of the console', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(memory, {
      config: { authorization: { modes: ['RBAC'] }, authentication: { anonymous: false } },
    });
  });
  afterAll(() => server.stop());

  it('are served without credentials, also with --anonymous-auth=false', async () => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) {
      const path = `/console/${name === 'index.html' ? '' : name}`;
      const { code, headers, body } = await send(server, path);
      expect([path, code, headers['x-content-type-options']]).toEqual([path, 200, 'nosniff']);
      expect(body.equals(readFileSync(join(folder, name)))).toBe(true);
    }
  });

  it('forbid inline code, markup from text, frames, forms and other hosts', async () => {
    const { headers } = await send(server, '/console/');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; " +
        "trusted-types 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\son\w+=|style=|https?:|<script(?![^>]*\bsrc=)/);
  });

  it('are answered with 304 for a known ETag, and compressed for clients that accept it', async () => {
    const plain = await send(server, '/console/main.js');
    const compressed = await send(server, '/console/main.js', { headers: { 'accept-encoding': 'br, gzip' } });
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
    expect(compressed.headers['etag']).not.toBe(plain.headers['etag']);
    const etag = String(plain.headers['etag']);
    const known = await send(server, '/console/main.js', { headers: { 'if-none-match': `"x", W/${etag}` } });
    expect([known.code, known.body.length, known.headers['etag']]).toEqual([304, 0, etag]);
    const refused = await send(server, '/console/main.js', { headers: { 'accept-encoding': 'gzip;q=0' } });
    expect(refused.headers['content-encoding']).toBeUndefined();
    const head = await send(server, '/console/', { method: 'HEAD' });
    expect([head.code, head.body.length, Number(head.headers['content-length']) > 300]).toEqual([200, 0, true]);
  });

  it('/console leads to /console/', async () => {
    const { code, headers } = await send(server, '/console?x=//evil.example');
    expect([code, headers['location']]).toEqual([301, '/console/']);
  });

  it.each([
    '/console/index.html',
    '/console/../api',
    '/console/../package.json',
    '/console/..%2fpackage.json',
    '/console/%2e%2e/package.json',
    '/console/%2e%2e%2fconfig%2flimits.yaml',
    '/console/..\\package.json',
    '/console/style/../../package.json',
    '/console/style%2fbase.css',
    '/console//main.js',
    '/console/main.js/',
    '/console/main%2ejs',
    '/console/MAIN.JS',
    '/console/main.js%00',
    '/console/main.js%00.html',
    '/console/main.js;/api',
    '/console/__proto__',
    '/console/constructor',
    '//console/',
    '/consolex',
    '/console%2f',
    '/%63onsole/',
  ])('%s is no file: the request is authenticated like one for an unknown path', async (path) => {
    expect((await send(server, path)).code).toBe(401);
  });

  it('a path of 6,000 characters is authenticated, too', async () => {
    expect((await send(server, `/console/${'a/'.repeat(3_000)}`)).code).toBe(401);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s needs credentials',
    async (method) => {
      const { code, headers } = await send(server, '/console/', { method });
      expect([code, headers['content-security-policy']]).toEqual([401, undefined]);
    },
  );

  it('make nothing else public', async () => {
    const paths = ['/', '/api', '/apis', '/api/v1/pods', '/metrics', '/debug/api_priority_and_fairness/dump_requests'];
    for (const path of paths) expect([path, (await send(server, path)).code]).toEqual([path, 401]);
  });

  it('are listed at / for users', async () => {
    expect((await server.admin.get('/')).body.paths).toContain('/console/');
    expect((await server.admin.get('/console/unknown')).code).toBe(404);
  });
});

it('--console=false answers as for unknown paths', async () => {
  const server = await startTestServer(memory, { config: { serving: { console: false } } });
  try {
    for (const path of ['/console', '/console/', '/console/main.js']) {
      expect([path, (await server.admin.get(path)).code]).toEqual([path, 404]);
    }
    expect((await server.admin.get('/')).body.paths).not.toContain('/console/');
  } finally {
    await server.stop();
  }
});
