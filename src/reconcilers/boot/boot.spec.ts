import { HttpClient } from '../../../test/harness/http-client.js';
import { until } from '../../../test/harness/until.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { MemoryStore } from '../../storage/backends/memory/memory-store.js';
import { startKeelson } from '../../testing.js';

const store = new MemoryStore();
afterAll(() => store.close());

/** Runs one server after another on the same store. */
async function withServer<T>(use: (admin: HttpClient) => Promise<T>): Promise<T> {
  const keelson = await startKeelson({ store });
  const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  try {
    return await use(admin);
  } finally {
    admin.close();
    await keelson.stop();
  }
}

const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
const autoupdate = 'apf.kubernetes.io/autoupdate-spec';
const services = '/apis/apiregistration.k8s.io/v1/apiservices';
const automanaged = 'kube-aggregator.kubernetes.io/automanaged';
const merge = { 'content-type': 'application/merge-patch+json' };
const patch = (admin: HttpClient, path: string, body: object) => admin.request('PATCH', path, { body, headers: merge });

it('a start restores changed and deleted flow control objects, except those with autoupdate-spec: false', async () => {
  await withServer(async (admin) => {
    const level = await admin.get(`${flow}/prioritylevelconfigurations/node-high`);
    expect(level.body).toMatchObject({
      metadata: { generation: 1, annotations: { [autoupdate]: 'true' } },
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 40, lendablePercent: 25 } },
    });
    const changed = { spec: { limited: { nominalConcurrencyShares: 7 } } };
    const taken = { ...changed, metadata: { annotations: { [autoupdate]: 'false' } } };
    expect((await patch(admin, `${flow}/prioritylevelconfigurations/node-high`, changed)).code).toBe(200);
    expect((await patch(admin, `${flow}/prioritylevelconfigurations/system`, taken)).code).toBe(200);
    expect((await admin.delete(`${flow}/flowschemas/probes`)).code).toBe(200);
  });
  await withServer(async (admin) => {
    const shares = async (name: string) =>
      (await admin.get(`${flow}/prioritylevelconfigurations/${name}`)).body.spec.limited.nominalConcurrencyShares;
    expect([await shares('node-high'), await shares('system')]).toEqual([40, 7]);
    expect((await admin.get(`${flow}/flowschemas/probes`)).body.spec.matchingPrecedence).toBe(2);
  });
});

it('the start of token tracking is kept, and written again if it is deleted or invalid', async () => {
  const configMaps = '/api/v1/namespaces/kube-system/configmaps';
  const name = 'kube-apiserver-legacy-service-account-token-tracking';
  const since = (object: KubeObject | undefined) => (object?.['data'] as { since?: string } | undefined)?.since;
  const isOfNow = (day: string | undefined) => Math.abs(Date.parse(`${day}T00:00:00Z`) - Date.now()) < 2 * 86_400_000;
  const first = '2020-02-29';
  await withServer(async (admin) => {
    const { body } = await admin.get(`${configMaps}/${name}`);
    expect(isOfNow(since(body as KubeObject))).toBe(true);
    expect((await patch(admin, `${configMaps}/${name}`, { data: { since: first } })).code).toBe(200);
  });
  await withServer(async (admin) => {
    const { body } = await admin.get(`${configMaps}/${name}`);
    expect(since(body as KubeObject)).toBe(first);
    await admin.delete(`${configMaps}/${name}`);
    await until(admin, configMaps, name, (object) => isOfNow(since(object)));
    for (const wrong of ['2021-02-30', 'soon', '']) {
      expect((await patch(admin, `${configMaps}/${name}`, { data: { since: wrong } })).code).toBe(200);
      await until(admin, configMaps, name, (object) => isOfNow(since(object)));
    }
  });
});

it('a start writes an APIService for each served version and deletes its outdated ones, not those of others', async () => {
  const local = (name: string, label: object) => ({
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name, labels: label },
    spec: { group: 'gone.example.com', version: name.split('.')[0], groupPriorityMinimum: 10, versionPriority: 10 },
  });
  await withServer(async (admin) => {
    const stale = local('v1.gone.example.com', { [automanaged]: 'onstart' });
    const others = local('v2.gone.example.com', {});
    expect((await admin.post(services, stale)).code).toBe(201);
    expect((await admin.post(services, others)).code).toBe(201);
  });
  await withServer(async (admin) => {
    const items = (await admin.get(services)).body.items as {
      metadata: { name: string };
      spec: object;
      status: object;
    }[];
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['v1.', 'v1.rbac.authorization.k8s.io', 'v2.gone.example.com']));
    expect(names).not.toContain('v1.gone.example.com');
    expect(names).not.toContain('v1.apiregistration.k8s.io');
    expect(items.find(({ metadata }) => metadata.name === 'v1.')).toMatchObject({
      spec: { version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
  });
});
