import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import { startTwoClusters, type ClusterClient, type ClusterServer } from '../harness/logical-clusters.js';

// Two logical clusters, and the root, with objects of the same names: no verb of one is about those of another.

let server: ClusterServer;
let a: ClusterClient;
let b: ClusterClient;
beforeAll(async () => {
  ({ server, a, b } = await startTwoClusters());
  for (const cluster of [a, b]) await put(cluster, 'shared', cluster.name);
  await server.admin.post('/api/v1/namespaces/default/configmaps', configMap('shared', 'root'));
});
afterAll(() => server.stop());

const maps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, owner: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { owner } },
  data: { owner },
});
const put = (cluster: ClusterClient, name: string, owner: string) => cluster.post(maps, configMap(name, owner));
const owners = async (cluster: ClusterClient, query = '') => {
  const { body } = await cluster.get(`${maps}${query}`);
  return (body.items as { data?: { owner?: string } }[]).flatMap(({ data }) => data?.owner ?? []);
};

test('get returns the object of the own cluster', async () => {
  expect((await a.get(`${maps}/shared`)).body.data.owner).toBe('a');
  expect((await b.get(`${maps}/shared`)).body.data.owner).toBe('b');
  expect((await server.admin.get(`${maps}/shared`)).body.data.owner).toBe('root');
});

test('list returns the objects of the own cluster, also with selectors, pages and old revisions', async () => {
  expect(await owners(a)).toEqual(['a']);
  expect(await owners(b, '?labelSelector=owner=a')).toEqual([]);
  const { resourceVersion } = (await a.get(maps)).body.metadata as { resourceVersion: string };
  expect(await owners(b, `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).toEqual(['b']);
  expect(await owners(b, `?resourceVersion=0`)).toEqual(['b']);
});

test('a continue token of another cluster pages through the own one', async () => {
  for (const name of ['p1', 'p2', 'p3']) await put(a, name, 'a');
  const first = await a.get(`${maps}?limit=2`);
  const token = first.body.metadata.continue as string;
  expect(token).not.toBe('');
  expect(await owners(a, `?limit=9&continue=${token}`)).toContain('a');
  expect((await owners(b, `?limit=9&continue=${token}`)).filter((owner) => owner !== 'b')).toEqual([]);
  await a.delete(`${maps}?labelSelector=owner=a&fieldSelector=metadata.name!=shared`);
});

test('update, patch and apply change the object of the own cluster', async () => {
  const before = (await b.get(`${maps}/shared`)).body.metadata.resourceVersion as string;
  const { body } = await a.get(`${maps}/shared`);
  expect((await a.put(`${maps}/shared`, { ...body, data: { owner: 'a', by: 'put' } })).code).toBe(200);
  expect((await a.patch(`${maps}/shared`, { data: { more: 'patch' } })).code).toBe(200);
  const applied = { ...configMap('shared', 'a'), data: { applied: 'yes' } };
  const apply = `${maps}/shared?fieldManager=test&force=true`;
  expect((await a.patch(apply, applied, 'application/apply-patch+yaml')).code).toBe(200);
  expect((await a.get(`${maps}/shared`)).body.data).toMatchObject({ by: 'put', more: 'patch', applied: 'yes' });
  const other = (await b.get(`${maps}/shared`)).body;
  expect(other.data).toEqual({ owner: 'b' });
  expect(other.metadata.resourceVersion).toBe(before);
});

test('an update with the resourceVersion of an object of another cluster is a conflict', async () => {
  const other = (await b.get(`${maps}/shared`)).body;
  expect((await a.put(`${maps}/shared`, other)).code).toBe(409);
});

test('watch sends the events of the own cluster', async () => {
  const { resourceVersion } = (await a.get(maps)).body.metadata as { resourceVersion: string };
  const [ofA, ofB] = await Promise.all([
    a.watch(`${maps}?watch=1&resourceVersion=${resourceVersion}`),
    b.watch(`${maps}?watch=1&resourceVersion=${resourceVersion}`),
  ]);
  await put(b, 'seen', 'b');
  await put(a, 'seen', 'a');
  await put(b, 'last', 'b');
  expect((await ofA.take(1)).map(({ object }) => object['data'])).toEqual([{ owner: 'a' }]);
  expect((await ofB.take(2)).map(({ object }) => object.metadata.name)).toEqual(['seen', 'last']);
  ofA.close();
  ofB.close();
});

test('delete and deletecollection remove objects of the own cluster', async () => {
  for (const cluster of [a, b]) for (const name of ['gone', 'gone-too']) await put(cluster, name, cluster.name);
  expect((await a.delete(`${maps}/gone`)).code).toBe(200);
  expect((await a.delete(maps)).code).toBe(200);
  expect(await owners(a)).toEqual([]);
  expect((await b.get(`${maps}/gone`)).code).toBe(200);
  expect((await b.get(`${maps}/gone-too`)).code).toBe(200);
  expect((await server.admin.get(`${maps}/shared`)).code).toBe(200);
});

test('each cluster has its own custom kinds, in discovery and OpenAPI too', async () => {
  const group = 'own.example.com';
  const kind = customResourceDefinition({ group, plural: 'gadgets', schema: { type: 'object' } });
  expect((await a.post(definitions, kind)).code).toBe(201);
  const path = `/apis/${group}`;
  await eventually('the kind is served', async () => (await a.get(path)).code === 200);
  await eventually('the kind is in OpenAPI', async () => (await a.get('/openapi/v3')).text.includes(group));
  expect((await b.get(path)).code).toBe(404);
  expect((await server.admin.get(path)).code).toBe(404);
  expect((await b.get('/openapi/v3')).text).not.toContain(group);
  expect((await b.get('/apis')).text).not.toContain(group);
});

test('each cluster has its own namespaces and its own roles', async () => {
  await a.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  expect((await a.get('/api/v1/namespaces/team')).code).toBe(200);
  expect((await b.get('/api/v1/namespaces/team')).code).toBe(404);
  expect((await server.admin.get('/api/v1/namespaces/team')).code).toBe(404);
  const account = '/api/v1/namespaces/team/serviceaccounts/default';
  await eventually('the namespace has its account', async () => (await a.get(account)).code === 200);
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'own' },
    rules: [],
  };
  await a.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', role);
  expect((await b.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/own')).code).toBe(404);
});

test('the reconcilers of a cluster delete the contents of its namespaces, and collect its garbage', async () => {
  const inTeam = '/api/v1/namespaces/team/configmaps';
  for (const cluster of [a, b]) {
    await cluster.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await cluster.post(inTeam, configMap('kept', cluster.name));
  }
  const owner = (await a.post(maps, configMap('owner', 'a'))).body.metadata as { uid: string };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.uid }];
  const dependent = configMap('dependent', 'a');
  await a.post(maps, { ...dependent, metadata: { ...dependent.metadata, ownerReferences } });
  await a.delete(`${maps}/owner`);
  await a.delete('/api/v1/namespaces/team');
  await eventually('the namespace is gone', async () => (await a.get('/api/v1/namespaces/team')).code === 404);
  await eventually('the dependent is gone', async () => (await a.get(`${maps}/dependent`)).code === 404);
  expect((await b.get(`${inTeam}/kept`)).code).toBe(200);
});
