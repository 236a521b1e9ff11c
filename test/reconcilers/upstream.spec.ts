import type { KubeObject } from '../../src/machinery/kube-object.js';
import { asFields } from '../../src/machinery/fields.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';
import { authorityPem } from '../harness/certificate-texts.js';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const configMapsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const merge = { 'content-type': 'application/merge-patch+json' };
const name = 'kube-root-ca.crt';
const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

let server: TestServer;
let client: HttpClient;
beforeEach(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  client = server.client(server.keelson.client);
});
afterEach(() => server.stop());

const lease = (holderIdentity: string) => ({
  metadata: { name: 'kube-controller-manager' },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new Date().toISOString().replace('Z', '000Z') },
});
const dataOf = (object: KubeObject | undefined) => asFields(object?.['data'])['ca.crt'];

/** Behaves as kube-controller-manager's root-ca-cert-publisher: writes its own CA over any other. */
async function publishUpstream(writes: { count: number }): Promise<() => void> {
  const watches = await Promise.all(
    namespaces.map((namespace) =>
      client.watch(
        `${configMapsOf(namespace)}?watch=1&fieldSelector=metadata.name=${name}&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
      ),
    ),
  );
  watches.forEach((watch, index) => {
    void (async () => {
      for await (const { type, object } of watch) {
        if (type === 'BOOKMARK') continue;
        writes.count++;
        if (dataOf(object) === authorityPem) continue;
        const path = `${configMapsOf(namespaces[index]!)}/${name}`;
        await client.request('PATCH', path, { body: { data: { 'ca.crt': authorityPem } }, headers: merge });
      }
    })();
  });
  return () => watches.forEach((watch) => watch.close());
}

it('kube-root-ca.crt of a controller manager is kept while it holds its Lease', async () => {
  await client.post(leases, lease('kcm_1'));
  const seen = { count: 0 };
  const stop = await publishUpstream(seen);
  for (let second = 0; second < 13; second++) {
    await client.request('PATCH', `${leases}/kube-controller-manager`, {
      body: { spec: lease('kcm_1').spec },
      headers: merge,
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  stop();
  // Four ConfigMaps: once before, and once by the controller manager.
  expect(seen.count).toBeLessThanOrEqual(2 * namespaces.length);
  for (const namespace of namespaces) {
    expect(dataOf((await client.get(`${configMapsOf(namespace)}/${name}`)).body)).toBe(authorityPem);
  }
});

it('work that a controller manager leaves undone is done after ten seconds', async () => {
  await client.post(leases, lease('kcm_1'));
  const start = performance.now();
  await client.delete(`${configMapsOf('default')}/${name}`);
  await until(client, configMapsOf('default'), name, (found) => dataOf(found) === server.keelson.ca);
  expect(performance.now() - start).toBeGreaterThan(9_000);
});
