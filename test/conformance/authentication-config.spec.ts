import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const running: TestServer[] = [];
let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'authentication-config-'));
  file = join(directory, 'authentication.yaml');
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await rm(directory, { recursive: true });
});

const content = (anonymous: unknown) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', anonymous });

/** Replaces the file at once, as an update of a mounted ConfigMap does. */
async function write(text: string): Promise<void> {
  await writeFile(join(directory, 'next'), text);
  await rename(join(directory, 'next'), file);
}

async function start(authentication: ConfigOverrides['authentication'] = {}): Promise<TestServer> {
  const config = { authentication: { configFile: file, ...authentication } };
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  running.push(server);
  return server;
}

const onlyLivez = { enabled: true, conditions: [{ path: '/livez' }] };
const codeOf = async (server: TestServer, path: string, headers: Record<string, string> = {}) =>
  (await server.client().request('GET', path, { headers })).code;

it('anonymous requests are allowed on the paths of the conditions only', async () => {
  await write(content(onlyLivez));
  const server = await start();
  expect(await codeOf(server, '/livez')).toBe(200);
  expect(await codeOf(server, '/livez?verbose')).toBe(200);
  for (const path of [
    '/livez/ping',
    '/livez/',
    '//livez',
    '/LIVEZ',
    '/readyz',
    '/version',
    '/api/v1/namespaces',
    '/nothing',
  ]) {
    expect([path, await codeOf(server, path)]).toEqual([path, 401]);
  }
  expect(await codeOf(server, '/livez', { authorization: 'Bearer unknown' })).toBe(401);
  expect((await server.admin.request('GET', '/api/v1/namespaces')).code).toBe(200);
});

it('a changed file takes effect without a restart, and an invalid change keeps the previous content', async () => {
  await write(content(onlyLivez));
  const server = await start();
  await write(content({ enabled: false }));
  await eventually('anonymous requests are rejected', async () => (await codeOf(server, '/livez')) === 401);
  await write('anonymous: {enabled: true}');
  const failed = /^apiserver_authentication_config_controller_automatic_reloads_total\{.*status="failure"/m;
  await eventually('the change is refused', async () => failed.test((await server.admin.get('/metrics')).text));
  expect(await codeOf(server, '/livez')).toBe(401);
  await write(content({ enabled: true }));
  await eventually('anonymous requests are accepted', async () => (await codeOf(server, '/version')) === 200);
});

it('without the field anonymous the flag decides', async () => {
  await write(content(undefined));
  expect(await codeOf(await start({ anonymous: false }), '/livez')).toBe(401);
  expect(await codeOf(await start(), '/livez')).toBe(200);
});

it('a file that cannot be used fails the start, with all its problems', async () => {
  await write(JSON.stringify({ ...(JSON.parse(content(onlyLivez)) as object), jwt: [{}], more: 1 }));
  const started = start({ anonymous: true });
  await expect(started).rejects.toThrow(/more: unknown field.*jwt\[0\].issuer.url: Required value/s);
  await expect(started).rejects.toThrow('cannot be combined with --anonymous-auth');
  await rm(file);
  await expect(start()).rejects.toThrow(file);
});
