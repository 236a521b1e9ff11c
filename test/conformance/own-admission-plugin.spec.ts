import { ApiError, defineAdmissionPlugin, type AdmissionPluginDefinition } from '../../src/index.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Adds an admission plug-in to a server, as ARCHITECTURE says for programs that embed it. */
const teamLabel = defineAdmissionPlugin({
  name: 'TeamLabel',
  runs: 'by default',
  make: ({ objects }) => ({
    admit({ operation, resource, namespace, object }) {
      if (operation !== 'CREATE' || resource.resource !== 'configmaps' || !object) return;
      const { labels } = objects.cached({ group: '', resource: 'namespaces' }, '', namespace)?.metadata ?? {};
      if (labels?.team !== undefined) object.metadata.labels = { team: labels.team, ...object.metadata.labels };
    },
    validate({ operation, resource, name, object, request }) {
      if (operation === 'DELETE' || resource.resource !== 'configmaps') return;
      // Controllers write ConfigMaps too.
      if (request.user.name.startsWith('system:')) return;
      if (object?.metadata.labels?.team === undefined) throw ApiError.forbidden(resource, name, 'set the label team');
    },
  }),
});
const optional = defineAdmissionPlugin({ ...teamLabel, runs: 'if enabled' });

const running: TestServer[] = [];
async function start(plugin: AdmissionPluginDefinition, admission = {}) {
  const combination = { store: 'memory', naming: 'kubernetes' } as const;
  const server = await startTestServer(combination, { admissionPlugins: [plugin], config: { admission } });
  running.push(server);
  return server.admin;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const settings = { metadata: { name: 'settings' } };

it('changes objects and refuses requests', async () => {
  const admin = await start(teamLabel);
  await admin.post('/api/v1/namespaces', { metadata: { name: 'shop', labels: { team: 'sales' } } });
  const labelled = await admin.post(configMaps('shop'), settings);
  expect(labelled).toMatchObject({ code: 201, body: { metadata: { labels: { team: 'sales' } } } });
  const { code, body } = await admin.post(configMaps('default'), settings);
  expect([code, body.message]).toEqual([403, 'configmaps "settings" is forbidden: set the label team']);
});

it('may change nested values of an update: the old object stays as it is stored', async () => {
  const scaling = defineAdmissionPlugin({
    name: 'Scaling',
    runs: 'by default',
    make: () => ({
      admit({ resource, subresource, object }) {
        if (resource.resource !== 'deployments' || subresource !== 'status' || !object) return;
        (object['spec'] as { replicas: number }).replicas = 7;
      },
      validate({ resource, subresource, name, object, old }) {
        if (resource.resource !== 'deployments' || subresource !== 'status') return;
        const [before, after] = [old, object].map((one) => (one!['spec'] as { replicas: number }).replicas);
        throw ApiError.forbidden(resource, name, `replicas changed from ${before} to ${after}`);
      },
    }),
  });
  const admin = await start(scaling);
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await admin.post(deployments, { metadata: { name: 'web' }, spec });
  const { code, body } = await admin.patch(`${deployments}/web/status`, { status: { observedGeneration: 1 } });
  expect([code, body.message]).toEqual([403, 'deployments.apps "web" is forbidden: replicas changed from 1 to 7']);
});

it('counts in the metrics of admission', async () => {
  const admin = await start(teamLabel);
  await admin.post(configMaps('default'), settings);
  const metrics = await admin.request('GET', '/metrics');
  expect(metrics.text).toMatch(/apiserver_admission_controller_admission_duration_seconds_count\{name="TeamLabel",/);
});

it.each([
  ['runs by default', teamLabel, {}, 403],
  ['does not run if --disable-admission-plugins names it', teamLabel, { disabledPlugins: ['TeamLabel'] }, 201],
  ['does not run by default if it is declared so', optional, {}, 201],
  ['runs if --enable-admission-plugins names it', optional, { enabledPlugins: ['TeamLabel'] }, 403],
] as const)('%s', async (_, plugin, admission, code) => {
  const admin = await start(plugin, admission);
  expect((await admin.post(configMaps('default'), settings)).code).toBe(code);
});

it('a name that the server has already is refused', async () => {
  const twin = defineAdmissionPlugin({ ...teamLabel, name: 'LimitRanger' });
  await expect(
    startTestServer({ store: 'memory', naming: 'kubernetes' }, { admissionPlugins: [twin] }),
  ).rejects.toThrow('admission plug-in LimitRanger is defined twice');
});
