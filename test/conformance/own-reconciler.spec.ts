import { defineReconciler, followNames, type KubeObject, type ReconcilerDefinition } from '../../src/index.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

let starts = 0;
const withAnnotation = ({ metadata, ...rest }: KubeObject, annotation: Record<string, string>): KubeObject => ({
  ...rest,
  metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotation } },
});

/** Adds a reconciler to a server, as ARCHITECTURE says for programs that embed it: it notes the number of keys. */
const keyCounts = defineReconciler({
  name: 'key-count-controller',
  runs: 'by default',
  runsOn: 'leader',
  fieldManager: () => 'key-count',
  start({ registry, client, queue }) {
    starts++;
    const served = registry.require('', 'v1', 'configmaps');
    const work = queue('key_counts', async (key, signal) => {
      const [namespace = '', name = ''] = key.split('/');
      const countKeys = (current: KubeObject) =>
        withAnnotation(current, { 'example.com/keys': String(Object.keys(current.data ?? {}).length) });
      await client.change({ served, namespace, name }, countKeys, { signal });
    });
    const unfollow = followNames(served, (namespace, name) => work.add(`${namespace}/${name}`));
    return {
      async stop() {
        unfollow();
        await work.stop();
      },
    };
  },
});
const optional = defineReconciler({ ...keyCounts, runs: 'if enabled' });

const running: TestServer[] = [];
async function start(reconciler: ReconcilerDefinition, controllers = ['*']) {
  const config = { reconcilers: { controllers } };
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { reconcilers: [reconciler], config },
  );
  running.push(server);
  return server.admin;
}
beforeEach(() => void (starts = 0));
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

it('changes objects through the verbs whenever they change', async () => {
  const admin = await start(keyCounts);
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const keys = (count: string) => (configMap: KubeObject | undefined) =>
    configMap?.metadata.annotations?.['example.com/keys'] === count;
  await admin.post(configMaps, { metadata: { name: 'settings' }, data: { a: '1', b: '2' } });
  expect(await until(admin, configMaps, 'settings', keys('2'))).toMatchObject({
    metadata: { managedFields: expect.arrayContaining([expect.objectContaining({ manager: 'key-count' })]) },
  });
  await admin.patch(`${configMaps}/settings`, { data: { a: null } });
  await until(admin, configMaps, 'settings', keys('1'));
});

it.each([
  ['runs by default', keyCounts, ['*'], 1],
  ['does not run if --controllers excludes it', keyCounts, ['*', '-key-count-controller'], 0],
  ['does not run by default if it is declared so', optional, ['*'], 0],
  ['runs if --controllers names it', optional, ['*', 'key-count-controller'], 1],
] as const)('%s', async (_, reconciler, controllers, expected) => {
  await start(reconciler, [...controllers]);
  expect(starts).toBe(expected);
});

it('a name that the server has already is refused', async () => {
  const twin = defineReconciler({ ...keyCounts, name: 'namespace-controller' });
  await expect(start(twin)).rejects.toThrow('reconciler namespace-controller is defined twice');
});
