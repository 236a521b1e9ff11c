import type { KubeObject } from '../../src/machinery/kube-object.js';
import { startKeelson, type TestKeelson, type KeelsonOptions } from '../../src/testing.js';

const collections = [
  ...['namespaces', 'serviceaccounts', 'configmaps'].map((plural) => `/api/v1/${plural}`),
  ...['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(
    (plural) => `/apis/rbac.authorization.k8s.io/v1/${plural}`,
  ),
  ...['flowschemas', 'prioritylevelconfigurations'].map((plural) => `/apis/flowcontrol.apiserver.k8s.io/v1/${plural}`),
  '/apis/scheduling.k8s.io/v1/priorityclasses',
  '/apis/apiregistration.k8s.io/v1/apiservices',
];
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

const servers: TestKeelson[] = [];
/** Starts a server whose objects only requests change. */
async function start(options: KeelsonOptions = {}): Promise<TestKeelson> {
  const server = await startKeelson({ reconciles: false, ...options });
  servers.push(server);
  return server;
}
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.stop()))));

async function objectsOf({ api }: TestKeelson): Promise<KubeObject[]> {
  const lists = await Promise.all(collections.map((path) => api.list(path)));
  return lists.flatMap(({ items }) => items);
}

/** The object without what is its own in each server. */
function withoutOwn({ metadata, ...rest }: KubeObject) {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, managedFields, ...shared } = metadata;
  const fields = managedFields?.map((entry) => ({ ...(entry as object), time: '' }));
  return { ...rest, metadata: { ...shared, fields } };
}

it('a later server begins with the objects of the first one, under uids and times of its own', async () => {
  const first = await objectsOf(await start());
  const atMs = Math.floor(Date.now() / 1000) * 1000;
  const later = await objectsOf(await start());
  expect(later.map(withoutOwn)).toEqual(first.map(withoutOwn));
  expect(new Set([...first, ...later].map(({ metadata }) => metadata.uid)).size).toBe(2 * first.length);
  for (const { metadata } of later) {
    expect(Date.parse(metadata.creationTimestamp!)).toBeGreaterThanOrEqual(atMs);
    for (const entry of metadata.managedFields ?? []) expect(entry).toMatchObject({ time: metadata.creationTimestamp });
  }
});

it('a change or deletion of an initial object is seen by its server only, not by running or later ones', async () => {
  const first = await start();
  const running = await start();
  const before = (await objectsOf(running)).map(withoutOwn);
  await first.api.patch(`${roles}/view`, { metadata: { labels: { mine: 'yes' } }, rules: null }, { type: 'merge' });
  await first.api.patch('/api/v1/namespaces/default', { metadata: { labels: { mine: 'yes' } } }, { type: 'merge' });
  await first.api.delete(`${roles}/edit`);
  expect((await objectsOf(running)).map(withoutOwn)).toEqual(before);
  expect((await objectsOf(await start())).map(withoutOwn)).toEqual(before);
});

it('a later server with other names of groups has its own initial objects', async () => {
  await start();
  const { api } = await start({ config: { naming: { profile: 'kubernetes', apiDomain: 'example.com' } } });
  const view = await api.get('/apis/rbac.authorization.example.com/v1/clusterroles/view');
  expect(view).toMatchObject({ apiVersion: 'rbac.authorization.example.com/v1', kind: 'ClusterRole' });
});
