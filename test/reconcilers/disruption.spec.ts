import type { KubeObject } from '../../src/machinery/kube-object.js';
import { asFields } from '../../src/machinery/fields.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const pods = '/api/v1/namespaces/default/pods';
const apps = '/apis/apps/v1/namespaces/default';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = { 'content-type': 'application/merge-patch+json' };

let server: TestServer;
let client: HttpClient;
beforeEach(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  client = server.client(server.keelson.client);
});
afterEach(() => server.stop());

const containers = [{ name: 'c', image: 'i' }];
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } };
const selector = { matchLabels: { app: 'a' } };

async function addReadyPod(name: string, owner?: object): Promise<void> {
  const metadata = { name, labels: { app: 'a' }, ...(owner && { ownerReferences: [owner] }) };
  await client.post(pods, { metadata, spec: { nodeName: 'n', containers } });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.request('PATCH', `${pods}/${name}/status`, { body: { status }, headers: merge });
}
const statusOf = (budget: KubeObject | undefined) => asFields(budget?.['status']);
const allows = (count: number) =>
  until(client, budgets, 'b', (found) => statusOf(found)['disruptionsAllowed'] === count);
const evict = (name: string) => client.post(`${pods}/${name}/eviction`, { metadata: { name } });

it('evictions are granted as minAvailable as a number allows', async () => {
  for (const name of ['p1', 'p2', 'p3']) await addReadyPod(name);
  const { body } = await client.post(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 2, selector } });
  expect(body.status.disruptionsAllowed).toBe(0);
  expect(statusOf(await allows(1))).toMatchObject({ expectedPods: 3, currentHealthy: 3, observedGeneration: 1 });
  expect((await evict('p1')).code).toBe(201);
  expect((await evict('p2')).code).toBe(429);
  await client.request('DELETE', `${pods}/p1`, { body: { gracePeriodSeconds: 0 } });
  await addReadyPod('p4');
  expect(statusOf(await allows(1))['disruptedPods']).toBeUndefined();
  expect((await evict('p2')).code).toBe(201);
});

it('minAvailable as a percentage uses the scale of the Deployment that owns the ReplicaSet', async () => {
  const metadata = { name: 'd' };
  const deployment = await client.post(`${apps}/deployments`, { metadata, spec: { replicas: 4, selector, template } });
  const ownerOf = (kind: string, { body }: { body: KubeObject }) => ({
    apiVersion: 'apps/v1',
    kind,
    name: body.metadata.name,
    uid: body.metadata.uid,
    controller: true,
  });
  const replicaSet = await client.post(`${apps}/replicasets`, {
    metadata: { name: 'r', ownerReferences: [ownerOf('Deployment', deployment)] },
    spec: { replicas: 1, selector, template },
  });
  for (const name of ['p1', 'p2', 'p3']) await addReadyPod(name, ownerOf('ReplicaSet', replicaSet));
  await client.post(budgets, { metadata: { name: 'b' }, spec: { maxUnavailable: '50%', selector } });
  expect(statusOf(await allows(1))).toMatchObject({ expectedPods: 4, desiredHealthy: 2, currentHealthy: 3 });
  await client.request('PATCH', `${apps}/deployments/d`, { body: { spec: { replicas: 2 } }, headers: merge });
  expect(statusOf(await allows(2))).toMatchObject({ expectedPods: 2, desiredHealthy: 1 });
});

it('a Pod whose controller is deleted cannot be evicted, and the budget has the reason', async () => {
  const owner = { apiVersion: 'example.com/v1', kind: 'Odd', name: 'o', uid: 'u', controller: true };
  await addReadyPod('p1', owner);
  await client.post(budgets, { metadata: { name: 'b' }, spec: { maxUnavailable: 1, selector } });
  const failed = await until(client, budgets, 'b', (found) => statusOf(found)['conditions'] !== undefined);
  expect(statusOf(failed)['conditions']).toMatchObject([
    { status: 'False', reason: 'SyncFailed', message: 'no matches for kind "Odd" in version "example.com/v1"' },
  ]);
  expect((await evict('p1')).code).toBe(429);
});
