import type { KubeObject } from '../../src/machinery/kube-object.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

/** Labels of Secrets with service account tokens: the day of their last use, and the mark that makes them invalid. */
const secrets = '/api/v1/namespaces/default/secrets';
const dayMs = 86_400_000;
/** Longer than results of tokens are cached. */
const cacheMs = 11_000;

let aheadMs = 0;
const startMs = Date.now();
/** The time of day stands still, so that no test begins on one day and ends on the next. */
const clock: Clock = {
  ...systemClock,
  now: () => startMs + aheadMs,
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
};
const today = () => new Date(clock.now()).toISOString().slice(0, 10);

const running: TestServer[] = [];
let store: MemoryStore;
beforeEach(() => {
  store = new MemoryStore();
  aheadMs = 0;
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await store.close();
});

async function start(naming: NamingName = 'kubernetes'): Promise<TestServer> {
  const config = { reconcilers: { leaderElection: 'false' as const } };
  const server = await startTestServer({ store: 'memory', naming }, { config, store, clock });
  running.push(server);
  return server;
}

const label = ({ keelson }: TestServer, name: string) => keelson.components.config.naming.label(name);
const lastUsed = (server: TestServer) => label(server, 'legacy-token-last-used');
const invalidSince = (server: TestServer) => label(server, 'legacy-token-invalid-since');
const labelsOf = (secret: KubeObject | undefined) => secret?.metadata.labels ?? {};
const tokenIn = (secret: KubeObject | undefined) =>
  Buffer.from((secret?.['data'] as Record<string, string> | undefined)?.['token'] ?? '', 'base64').toString();

async function tokenOf(server: TestServer, name: string): Promise<string> {
  const annotations = { [label(server, 'service-account.name')]: 'default' };
  const object = { metadata: { name, annotations }, type: label(server, 'service-account-token') };
  expect((await server.admin.post(secrets, object)).code).toBe(201);
  return tokenIn(await until(server.admin, secrets, name, (secret) => tokenIn(secret) !== ''));
}

async function codeWith(server: TestServer, token: string): Promise<number> {
  const client: HttpClient = server.client({ token });
  return (await client.get('/api')).code;
}

const untilUsed = (server: TestServer, name: string, day: string) =>
  until(server.admin, secrets, name, (secret) => labelsOf(secret)[lastUsed(server)] === day);

it.each<NamingName>(['kubernetes', 'svc'])('the day of use is written into a label once a day (%s)', async (naming) => {
  const server = await start(naming);
  const token = await tokenOf(server, 'used');
  const unused = await server.admin.get(`${secrets}/used`);
  expect(labelsOf(unused.body as KubeObject)).toEqual({});
  expect(await codeWith(server, token)).toBe(200);
  const first = await untilUsed(server, 'used', today());

  aheadMs += cacheMs;
  expect(await codeWith(server, token)).toBe(200);
  // A use that is written after it.
  const other = await tokenOf(server, 'other');
  expect(await codeWith(server, other)).toBe(200);
  await untilUsed(server, 'other', today());
  const again = await server.admin.get(`${secrets}/used`);
  expect(again.body.metadata.resourceVersion).toBe(first!.metadata.resourceVersion);

  aheadMs += dayMs;
  expect(await codeWith(server, token)).toBe(200);
  const second = await untilUsed(server, 'used', today());
  expect(labelsOf(second)[lastUsed(server)]).not.toBe(labelsOf(first)[lastUsed(server)]);
  expect(tokenIn(second)).toBe(token);
});

it('servers that share a store write the day once', async () => {
  const servers = [await start(), await start()];
  const [server] = servers;
  const token = await tokenOf(server!, 'shared');
  for (const each of servers)
    await until(each.admin, secrets, 'shared', (secret) => secret !== undefined && tokenIn(secret) !== '');
  const { body } = await server!.admin.get(secrets);
  const codes = await Promise.all(servers.flatMap((each) => [codeWith(each, token), codeWith(each, token)]));
  expect(codes).toEqual([200, 200, 200, 200]);
  for (const each of servers) await untilUsed(each, 'shared', today());
  for (const [at, each] of servers.entries()) {
    const other = await tokenOf(each, `after-${at}`);
    await codeWith(each, other);
    await untilUsed(each, `after-${at}`, today());
  }
  expect((await server!.admin.post(secrets, { metadata: { name: 'end' } })).code).toBe(201);
  const watch = await server!.admin.watch(`${secrets}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  const seen: string[] = [];
  for await (const { type, object } of watch) {
    if (object.metadata.name === 'end') break;
    if (object.metadata.name === 'shared') seen.push(type);
  }
  watch.close();
  expect(seen).toEqual(['MODIFIED']);
});

it('a Secret with fields that the server does not know authenticates, and is not written', async () => {
  const server = await start();
  const token = await tokenOf(server, 'newer');
  const key = '/registry/secrets/default/newer';
  const { item } = await store.get(key);
  const stored = JSON.parse(Buffer.from(item!.value).toString()) as object;
  const value = Buffer.from(JSON.stringify({ ...stored, rotation: { days: 3 } }));
  const { succeeded } = await store.txn([{ key, modRevision: item!.modRevision }], [{ type: 'put', key, value }]);
  expect(succeeded).toBe(true);
  await until(server.admin, secrets, 'newer', (secret) => Number(secret?.metadata.resourceVersion) > item!.modRevision);
  expect(await codeWith(server, token)).toBe(200);
  const other = await tokenOf(server, 'known');
  expect(await codeWith(server, other)).toBe(200);
  await untilUsed(server, 'known', today());
  expect(Buffer.from((await store.get(key)).item!.value).toString()).toBe(value.toString());
});

it('the label legacy-token-invalid-since rejects the token until it is removed', async () => {
  const server = await start();
  const { naming } = server.keelson.components.config;
  const token = await tokenOf(server, 'marked');
  expect(await codeWith(server, token)).toBe(200);
  const mark = (day: string | null) =>
    server.admin.patch(`${secrets}/marked`, { metadata: { labels: { [invalidSince(server)]: day } } });
  expect((await mark('2026-01-01')).code).toBe(200);
  const isMarked = (secret: KubeObject | undefined) => labelsOf(secret)[invalidSince(server)] !== undefined;
  await until(server.admin, secrets, 'marked', isMarked);
  // Also while the accepted result is cached.
  expect(await codeWith(server, token)).toBe(401);
  aheadMs += dayMs;
  const group = naming.group('authentication');
  const review = { kind: 'TokenReview', apiVersion: `${group}/v1`, spec: { token } };
  const { status } = (await server.admin.post(`/apis/${group}/v1/tokenreviews`, review)).body;
  expect(status).toMatchObject({ error: expect.stringContaining(`has the label ${invalidSince(server)}`) });
  expect(status.authenticated).toBeUndefined();
  // A rejected use is a use: the Secret must not be deleted while it is needed.
  await untilUsed(server, 'marked', today());
  const { text } = await server.admin.get('/metrics');
  expect(Number(/^serviceaccount_invalid_legacy_auto_token_uses_total (\d+)$/m.exec(text)![1])).toBe(2);
  expect(Number(/^serviceaccount_legacy_tokens_total (\d+)$/m.exec(text)![1])).toBe(3);

  expect((await mark(null)).code).toBe(200);
  await until(server.admin, secrets, 'marked', (secret) => secret !== undefined && !isMarked(secret));
  expect(await codeWith(server, token)).toBe(200);
});
