import type { HttpClient } from '../harness/http-client.js';
import { eventually } from '../harness/eventually.js';
import { ownAddress } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { untilGone } from '../harness/until.js';
import {
  created,
  permitDelegation,
  tokenOf,
  wardleGroup,
  wardleName,
  wardlePath,
  WardleServer,
} from '../harness/wardle-server.js';

// The case of upstream's end-to-end suite for aggregated API servers, by its title. The test stands in for the
// deployment controller and the kubelet: it starts the process that the Pod would run, and publishes its address. A
// machine without an address besides loopback gets a Service of the type ExternalName.

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const item = `${apiServices}/${wardleName}`;
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface APIService {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly Condition[] };
}

interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly resources?: readonly { readonly resource: string; readonly scope: string }[];
  }[];
}

let server: TestServer;
let admin: HttpClient;
let wardle: WardleServer;
let namespace: string;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  ({ admin } = server);
  const { metadata } = await created(admin, '/api/v1/namespaces', { metadata: { generateName: 'aggregator-' } });
  namespace = metadata.name;
  wardle = await WardleServer.prepare(namespace, ownAddress() ?? '127.0.0.1');
});
afterAll(async () => {
  await wardle.remove();
  await server.stop();
});

async function setUpSampleApiServer(): Promise<void> {
  const here = `/api/v1/namespaces/${namespace}`;
  const encoded = Object.entries(wardle.secret).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  await created(admin, `${here}/secrets`, {
    metadata: { name: 'sample-apiserver-secret' },
    ...{ type: 'Opaque', data: Object.fromEntries(encoded) },
  });
  await permitDelegation(admin, namespace);
  await deploy();
  await publish();
  await created(admin, `${here}/serviceaccounts`, { metadata: { name: 'sample-apiserver' } });
  await eventually('the account exists', async () => (await admin.get(`${here}/serviceaccounts/default`)).code === 200);
  await wardle.start({ url: server.url, ca: server.keelson.ca }, await tokenOf(admin, namespace, 'default'));
  await created(admin, apiServices, {
    metadata: { name: wardleName },
    spec: {
      service: { namespace, name: 'sample-api', port: ownAddress() === undefined ? wardle.port : 7443 },
      ...{ group: wardleGroup, version: 'v1alpha1', groupPriorityMinimum: 2000, versionPriority: 200 },
      caBundle: Buffer.from(wardle.ca).toString('base64'),
    },
  });
  await eventually('the sample API server handles requests', async () => {
    const { code, text } = await admin.get(`${wardlePath}/namespaces/default/flunders`);
    if (code !== 200 && code !== 403 && code !== 404 && code !== 503) throw new Error(`${code} ${text}`);
    return code === 200;
  });
}

async function deploy(): Promise<void> {
  const labels = { app: 'sample-apiserver', apiserver: 'true' };
  const secret = { secretName: 'sample-apiserver-secret' };
  const mount = {
    name: 'apiserver-certs',
    readOnly: true,
    mountPath: '/apiserver.local.config/certificates',
  };
  const containers = [
    {
      ...{ name: 'sample-apiserver', image: 'registry.k8s.io/e2e-test-images/sample-apiserver:1.33.8' },
      args: ['--etcd-servers=http://127.0.0.1:2379'],
      volumeMounts: [mount],
    },
    { name: 'etcd', image: 'registry.k8s.io/etcd:3.6.6-0' },
  ];
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const name = 'sample-apiserver-deployment';
  await created(admin, path, {
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...{ terminationGracePeriodSeconds: 0, containers },
          volumes: [{ name: 'apiserver-certs', secret }],
        },
      },
    },
  });
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  expect((await admin.patch(`${path}/${name}/status`, { status })).code).toBe(200);
}

/** Creates the Service, and the endpoint of the process. */
async function publish(): Promise<void> {
  const address = ownAddress();
  const external = { type: 'ExternalName', externalName: 'localhost' };
  const ports = [{ protocol: 'TCP', port: 7443, targetPort: 443 }];
  await created(admin, `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'sample-api', labels: { test: 'aggregator' } },
    spec: address === undefined ? external : { selector: { apiserver: 'true' }, ports },
  });
  if (address === undefined) return;
  await created(admin, `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
    metadata: { name: 'sample-api-1', labels: { 'kubernetes.io/service-name': 'sample-api' } },
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: wardle.port }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  });
}

const flunder = (name: string, metadata: object = {}) => ({
  ...{ apiVersion: `${wardleGroup}/v1alpha1`, kind: 'Flunder' },
  metadata: { name, ...metadata },
});

async function conditions(): Promise<Condition[]> {
  const { code, body } = await admin.get(`${item}/status`);
  expect(code).toBe(200);
  return body.status.conditions as Condition[];
}

/** Repeats a read and an update until there is no conflict. */
async function updated(path: string, change: (object: APIService) => object) {
  for (;;) {
    const { body } = await admin.get(path);
    const { code, body: after } = await admin.put(path, change(body));
    if (code === 409) continue;
    expect(code).toBe(200);
    return after;
  }
}

it('Aggregator Should be able to support the 1.17 Sample API Server using the current Aggregator [Conformance]', async () => {
  await setUpSampleApiServer();

  // A client that knows only paths: creates, lists and deletes a Flunder.
  const flunders = `${wardlePath}/namespaces/default/flunders`;
  const restFlunder = await admin.post(
    flunders,
    flunder('rest-flunder', { labels: { 'sample-label': 'true' }, namespace: 'default' }),
  );
  expect(restFlunder.code).toBe(201);
  expect(restFlunder.body).toMatchObject({
    ...{ apiVersion: `${wardleGroup}/v1alpha1`, kind: 'Flunder', metadata: { name: 'rest-flunder' } },
  });
  expect((await admin.get(`/api/v1/namespaces/${namespace}/pods`)).code).toBe(200);
  expect((await admin.get(flunders)).body.items).toHaveLength(1);
  expect((await admin.delete(`${flunders}/rest-flunder`)).code).toBe(200);
  expect((await admin.get(flunders)).body.items).toEqual([]);

  // The dynamic client: finds the resource by discovery.
  await eventually('the preferred namespaced resources have flunders', async () => {
    const { body } = await admin.get('/apis', { accept: aggregated });
    const group = (body.items as DiscoveredGroup[]).find(({ metadata }) => metadata.name === wardleGroup);
    const found = group?.versions[0]?.resources?.find(({ resource }) => resource === 'flunders');
    return found?.scope === 'Namespaced';
  });
  const dynamic = `${wardlePath}/namespaces/${namespace}/flunders`;
  await created(admin, dynamic, { ...flunder('dynamic-flunder'), spec: {} });
  expect((await admin.get(dynamic)).body.items).toHaveLength(1);

  // Reads the status of the APIService, and patches its spec.
  const { body: read } = await admin.get(`${item}/status`);
  expect(read.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
  expect(read.status.conditions[0].message).toBe('all checks passed');
  const patched = await admin.patch(item, { spec: { versionPriority: 400 } });
  expect([patched.code, patched.body.spec.versionPriority]).toEqual([200, 400]);
  expect(BigInt(patched.body.metadata.resourceVersion)).toBeGreaterThan(BigInt(read.metadata.resourceVersion));
  const { body: listed } = await admin.get(apiServices);
  expect((listed.items as APIService[]).map(({ metadata }) => metadata.name)).toContain(wardleName);

  // Labels it, and adds a condition by an update of the status.
  const labelled = await admin.patch(
    item,
    { metadata: { labels: { 'e2e-apiservice': 'patched' } } },
    'strategic-merge',
  );
  expect(labelled.code).toBe(200);
  expect((await admin.get(item)).body.metadata.labels).toEqual({ 'e2e-apiservice': 'patched' });
  const condition = (type: string, message: string) => ({ type, status: 'True', reason: 'E2E', message });
  await updated(`${item}/status`, (object) => ({
    ...object,
    status: { conditions: [...object.status.conditions, condition('StatusUpdated', 'Set from e2e test')] },
  }));
  expect(await conditions()).toContainEqual(expect.objectContaining(condition('StatusUpdated', 'Set from e2e test')));

  // Replaces its labels, and deletes and creates the Flunder.
  const replaced = await updated(item, (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { [wardleName]: 'updated' } },
  }));
  expect(replaced.metadata.labels).toEqual({ [wardleName]: 'updated' });
  expect((await admin.delete(`${dynamic}/dynamic-flunder`)).code).toBe(200);
  expect((await admin.get(dynamic)).body.items).toEqual([]);
  await created(admin, dynamic, { ...flunder('dynamic-flunder'), spec: {} });
  expect((await admin.get(dynamic)).body.items).toHaveLength(1);

  // Adds a condition by a patch of the status.
  const withPatched = [...(await conditions()), condition('StatusPatched', 'Set by e2e test')];
  const statusPatch = await admin.patch(`${item}/status`, { status: { conditions: withPatched } });
  expect(statusPatch.code).toBe(200);
  const after = await conditions();
  expect(after).toContainEqual(expect.objectContaining(condition('StatusPatched', 'Set by e2e test')));
  expect(after.map(({ type }) => type)).toEqual(['Available', 'StatusUpdated', 'StatusPatched']);

  // Deletes it as a collection of one label.
  const selected = `${apiServices}?labelSelector=${encodeURIComponent(`${wardleName}=updated`)}`;
  expect((await admin.delete(selected)).code).toBe(200);
  await untilGone(admin, apiServices, wardleName);
  expect((await admin.get(selected)).body.items).toEqual([]);
  await eventually('requests are not forwarded', async () => (await admin.get(dynamic)).code === 404);
});
