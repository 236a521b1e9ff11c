import type { ConfigOverrides } from '../../src/config/load-config.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const running: TestServer[] = [];

async function start(config: ConfigOverrides) {
  const server = await startTestServer(memory, { config });
  running.push(server);
  return server.admin;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

it('a disabled API is neither served nor in discovery', async () => {
  const admin = await start({ runtimeConfig: { 'v1/podtemplates': false } });
  expect((await admin.get('/api/v1/podtemplates')).code).toBe(404);
  expect((await admin.get('/api/v1/pods')).code).toBe(200);
  const { resources } = (await admin.get('/api/v1')).body as { resources: { name: string }[] };
  const names = resources.map(({ name }) => name);
  expect([names.includes('podtemplates'), names.includes('pods')]).toEqual([false, true]);
});

it.each([
  ['nothing/v1', '--runtime-config: nothing/v1: the group "nothing" is not known'],
  ['v1/podz', '--runtime-config: v1 has no resource "podz"; did you mean pods?'],
])('start fails for %s', async (key, message) => {
  await expect(start({ runtimeConfig: { [key]: true } })).rejects.toThrow(message);
});

it('a removed API can be enabled, and is not served', async () => {
  const admin = await start({ runtimeConfig: { 'policy/v1beta1': true } });
  expect((await admin.get('/apis/policy/v1beta1/poddisruptionbudgets')).code).toBe(404);
});

it('metrics count requests to deprecated APIs, feature gates and hidden metrics', async () => {
  const admin = await start({ featureGates: { ShardedListAndWatch: true } });
  const linesOf = async (name: string) =>
    (await admin.get('/metrics')).text.split('\n').filter((line) => line.startsWith(`${name}{`));
  const deprecated = 'apiserver_requested_deprecated_apis';
  expect(await linesOf(deprecated)).toEqual([]);
  await admin.get('/api/v1/pods');
  await admin.get('/api/v1/endpoints');
  await admin.get('/api/v1/namespaces/default/endpoints/none');
  expect(await linesOf(deprecated)).toEqual([
    `${deprecated}{group="",version="v1",resource="endpoints",subresource="",removed_release=""} 1`,
  ]);
  expect(await linesOf('kubernetes_feature_enabled')).toContain(
    'kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 1',
  );
  expect(await linesOf('apiserver_storage_objects')).toEqual([]);
});

it('--show-hidden-metrics-for-version shows hidden metrics', async () => {
  const admin = await start({ showHiddenMetricsForVersion: '1.36' });
  const { text } = await admin.get('/metrics');
  expect(text).toContain('# HELP apiserver_storage_objects [STABLE] (Deprecated from 1.34) ');
  expect(text).toContain('apiserver_storage_objects{resource="pods"} ');
});
