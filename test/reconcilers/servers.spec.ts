import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { until, untilGone } from '../harness/until.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const endpoints = '/api/v1/namespaces/default/endpoints';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const servers = `${leases}?labelSelector=apiserver.kubernetes.io/identity=kube-apiserver`;

const config = { reconcilers: { leaderElection: 'true' } } as const;
const store = new MemoryStore();
const running: { keelson: Keelson; admin: HttpClient }[] = [];
afterAll(async () => {
  for (const { keelson, admin } of running) {
    admin.close();
    await keelson.stop();
  }
  await store.close();
});

async function start() {
  const keelson = await startKeelson({ store, config });
  const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  const server = { keelson, admin, port: Number(new URL(keelson.url).port) };
  running.push(server);
  return server;
}

const portsOf = (object: unknown) =>
  ((object as { subsets?: { ports: { port: number }[] }[] }).subsets ?? [])
    .flatMap(({ ports }) => ports.map(({ port }) => port))
    .sort((a, b) => a - b);
const sorted = (...ports: number[]) => ports.sort((a, b) => a - b);
const identities = async (admin: HttpClient) =>
  ((await admin.get(servers)).body.items as { spec: { holderIdentity: string } }[]).map(
    ({ spec }) => spec.holderIdentity,
  );
async function collectsGarbage(admin: HttpClient, name: string): Promise<void> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '11111111-2222-3333-4444-555555555555' };
  await admin.post(configMaps, { metadata: { name, ownerReferences: [owner] } });
  await untilGone(admin, configMaps, name);
}

it('servers on one store have identity Leases, and one of them is the leader', async () => {
  const first = await start();
  await collectsGarbage(first.admin, 'a');
  const { body: lease } = await first.admin.get(`${leases}/keelson-reconcilers`);
  expect(lease.spec).toMatchObject({ leaseDurationSeconds: 15, leaseTransitions: 0 });

  const second = await start();
  expect(await identities(first.admin)).toHaveLength(2);
  const both = sorted(first.port, second.port);
  expect(portsOf((await second.admin.get(`${endpoints}/kubernetes`)).body)).toEqual(both);
  await collectsGarbage(second.admin, 'b');
  expect((await second.admin.get(`${leases}/keelson-reconcilers`)).body.spec.holderIdentity).toBe(
    lease.spec.holderIdentity,
  );

  running.splice(0, 1);
  first.admin.close();
  await first.keelson.stop();
  await until(second.admin, endpoints, 'kubernetes', (object) => portsOf(object).join() === `${second.port}`);
  expect(await identities(second.admin)).toHaveLength(1);
  await collectsGarbage(second.admin, 'c');
  const { body: taken } = await second.admin.get(`${leases}/keelson-reconcilers`);
  expect(taken.spec.holderIdentity).not.toBe(lease.spec.holderIdentity);
  expect(taken.spec.leaseTransitions).toBe(1);
});

it('metrics of the work queues are served', async () => {
  const { text } = await running[0]!.admin.get('/metrics');
  expect(text).toMatch(/^workqueue_adds_total\{name="garbage_collector"\} [1-9]/m);
  expect(text).toMatch(/^workqueue_depth\{name="garbage_collector"\} 0$/m);
  expect(text).toMatch(/^workqueue_work_duration_seconds_count\{name="garbage_collector"\} [1-9]/m);
});
