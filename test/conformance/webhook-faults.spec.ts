import { isIPv6 } from 'node:net';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import {
  AdmissionWebhooks,
  configMapRule,
  registration,
  respond,
  type WebhookInstaller,
} from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

const core = '/api/v1/namespaces/default';
const configMaps = `${core}/configmaps`;
const validatingConfigurations = `${registration}/validatingwebhookconfigurations`;

let store: MemoryStore;
let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
beforeAll(async () => {
  store = new MemoryStore();
  world = await startWebhookWorld({ store });
  ({ admin, webhooks, installer } = world);
});
afterAll(() => world.stop());

let count = 0;
const newName = () => `f${count++}`;
async function write(labels: object, query = '') {
  const name = newName();
  const { code, body } = await admin.post(`${configMaps}${query}`, { metadata: { name, labels } });
  const isStored = (await admin.get(`${configMaps}/${name}`)).code === 200;
  return { code, message: body.message as string | undefined, isStored };
}

/** Writes an object that validation would refuse, as another server may have stored it. */
async function put(key: string, object: object): Promise<void> {
  const value = Buffer.from(JSON.stringify(object));
  const { item } = await store.get(key);
  const compares = [{ key, modRevision: item?.modRevision ?? (0 as never) }];
  expect((await store.txn(compares, [{ type: 'put', key, value }])).succeeded).toBe(true);
}

describe('a Service', () => {
  const labels = { 'kubernetes.io/service-name': 'hook' };
  // Validation refuses loopback addresses, and no other address is sure to reach this machine.
  const slice = (address: string) => ({
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'hook-1', namespace: 'default', uid: 'hook-1', labels },
    addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
    endpoints: [
      { addresses: [address], conditions: { ready: true } },
      { addresses: ['192.0.2.1'], conditions: { ready: false } },
    ],
    ports: [{ name: 'https', port: webhooks.port, protocol: 'TCP' }],
  });
  const sliceKey = '/registry/endpointslices/default/hook-1';

  it('is called at the ready endpoint of its EndpointSlice, else of its Endpoints', async () => {
    const ports = [{ name: 'https', port: 8443, targetPort: 'https' }];
    const service = { metadata: { name: 'hook' }, spec: { selector: { app: 'hook' }, ports } };
    expect((await admin.post(`${core}/services`, service)).code).toBe(201);
    await put(sliceKey, slice(webhooks.address));
    const reference = { namespace: 'default', name: 'hook', path: '/by-service', port: 8443 };
    const clientConfig = { service: reference, caBundle: webhooks.caBundle };
    const { labels: selected } = await installer.install('validating', [{ clientConfig }]);
    expect(await write(selected)).toMatchObject({ code: 201, isStored: true });
    const host = 'hook.default.svc:8443';
    expect(webhooks.at('/by-service')).toMatchObject([{ headers: { host }, url: '/by-service?timeout=10s' }]);

    const { item } = await store.get(sliceKey);
    await store.txn([{ key: sliceKey, modRevision: item!.modRevision }], [{ type: 'delete', key: sliceKey }]);
    // Addresses are kept for a second.
    await eventually('the Service has no endpoint', async () => (await write(selected)).code === 500);
    expect((await write(selected)).message).toMatch(/: no endpoints available for service "hook"$/);
    await put('/registry/services/endpoints/default/hook', {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: 'hook', namespace: 'default', uid: 'hook' },
      subsets: [{ addresses: [{ ip: webhooks.address }], ports: [{ name: 'https', port: webhooks.port }] }],
    });
    await eventually('the Endpoints are used', async () => (await write(selected)).code === 201);
  });
});

it.each([
  ['Fail', { code: 500, isStored: false, message: expect.stringMatching(/certificate has expired/) as string }],
  ['Ignore', { code: 201, isStored: true }],
])('an expired certificate is a failed call, with failurePolicy %s', async (failurePolicy, want) => {
  const expired = await AdmissionWebhooks.start({ isExpired: true });
  try {
    const { labels } = await installer.install('validating', [
      { failurePolicy, clientConfig: expired.clientConfig('/expired') },
    ]);
    expect(await write(labels)).toMatchObject(want);
    expect(expired.received).toEqual([]);
  } finally {
    await expired.stop();
  }
});

it.each(['mutating', 'validating'] as const)(
  'the deadline of the request ends the call of a %s webhook, whatever its failurePolicy',
  async (kind) => {
    const { labels, paths } = await installer.install(kind, [{ failurePolicy: 'Ignore', timeoutSeconds: 30 }]);
    const [path = ''] = paths;
    let open = 0;
    webhooks.onRequest(path, (response) => {
      open++;
      response.on('close', () => open--);
    });
    // On a busy machine, the deadline may pass before the call.
    await eventually('the webhook is called', async () => {
      expect(await write(labels, '?timeout=500ms')).toMatchObject({ code: 504, isStored: false });
      return webhooks.reviews(path).length > 0;
    });
    await eventually('the calls have ended', () => open === 0);
    webhooks.on(path, () => ({ allowed: true }));
    expect(await write(labels)).toMatchObject({ code: 201, isStored: true });
  },
);

it('a collection is deleted with one review per object, and a refusal keeps its object only', async () => {
  const rules = [{ ...configMapRule, operations: ['DELETE'] }];
  const { labels, paths } = await installer.install('validating', [{ rules }]);
  const [path = ''] = paths;
  const names = ['a', 'b', 'c'].map((name) => `${newName()}-${name}`);
  for (const name of names) await admin.post(configMaps, { metadata: { name, labels } });
  webhooks.on(path, ({ oldObject }) => {
    const { metadata } = oldObject as { readonly metadata: { readonly name: string } };
    return { allowed: !metadata.name.endsWith('-b'), status: { message: 'kept' } };
  });
  const selected = `${configMaps}?labelSelector=hook%3D${labels['hook']}`;
  const { code, body } = await admin.delete(selected);
  expect([code, body.message]).toEqual([400, expect.stringMatching(/denied the request: kept$/)]);
  const reviewed = () =>
    webhooks.reviews(path).map(({ oldObject }) => (oldObject as { metadata: { name: string } }).metadata.name);
  expect(reviewed().sort()).toEqual(names);
  // As in kube-apiserver, the name is that of the request, which has none.
  for (const { name, operation, object } of webhooks.reviews(path)) {
    expect([name, operation, object]).toEqual([undefined, 'DELETE', null]);
  }
  expect((await admin.get(selected)).body.items).toMatchObject([{ metadata: { name: names[1] } }]);
  webhooks.on(path, () => ({ allowed: true }));
  expect((await admin.delete(selected)).code).toBe(200);
  expect((await admin.get(selected)).body.items).toEqual([]);
  expect(reviewed()).toHaveLength(names.length + 1);
});

it('a dry run is refused if a stored webhook has side effects (400), whatever its failurePolicy', async () => {
  const name = newName();
  const labels = { hook: name };
  const webhook = {
    name: `h0.${name}.test`,
    clientConfig: webhooks.clientConfig(`/${name}`),
    rules: [configMapRule],
    objectSelector: { matchLabels: labels },
    sideEffects: 'Some',
    failurePolicy: 'Ignore',
    admissionReviewVersions: ['v1'],
  };
  // Validation refuses it today, and earlier versions of the API did not.
  await put(`/registry/validatingwebhookconfigurations/${name}`, {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata: { name, uid: name },
    webhooks: [webhook],
  });
  await installer.settled('validating');
  const { code, message, isStored } = await write(labels, '?dryRun=All');
  expect([code, message, isStored]).toEqual([
    400,
    `admission webhook "h0.${name}.test" does not support dry run`,
    false,
  ]);
  expect(webhooks.reviews(`/${name}`)).toEqual([]);
  expect(await write(labels)).toMatchObject({ code: 201, isStored: true });
  expect(webhooks.reviews(`/${name}`)).toHaveLength(1);
});

it('a namespace whose deletion webhooks refuse is deleted when an administrator removes them', async () => {
  const namespace = newName();
  expect((await admin.post('/api/v1/namespaces', { metadata: { name: namespace } })).code).toBe(201);
  const object = { metadata: { name: 'kept' } };
  expect((await admin.post(`/api/v1/namespaces/${namespace}/configmaps`, object)).code).toBe(201);
  const { name } = await installer.install('validating', [
    {
      clientConfig: { url: 'https://localhost:1/' },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE'], resources: ['*/*'] }],
      objectSelector: {},
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    },
  ]);
  const path = `/api/v1/namespaces/${namespace}`;
  expect((await admin.delete(path)).code).toBe(500);
  // The rules do not select Namespaces any more, but what is in them.
  const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE'], resources: ['configmaps'] }];
  const change = [{ op: 'replace', path: '/webhooks/0/rules', value: rules }];
  expect((await admin.patch(`${validatingConfigurations}/${name}`, change, 'json')).code).toBe(200);
  await installer.settled('validating');
  expect((await admin.delete(path)).code).toBe(200);
  await eventually('the namespace names the failure', async () => {
    const { status } = (await admin.get(path)).body as { status: { conditions?: { type: string; status: string }[] } };
    return (status.conditions ?? []).some(
      (condition) => condition.type === 'NamespaceDeletionContentFailure' && condition.status === 'True',
    );
  });
  expect((await admin.get(`${path}/configmaps/kept`)).code).toBe(200);
  expect((await admin.delete(`${validatingConfigurations}/${name}`)).code).toBe(200);
  await eventually('the namespace is gone', async () => (await admin.get(path)).code === 404);
});

it('a webhook that writes an object which it selects itself is asked about it, and none of them waits for ever', async () => {
  const { labels, path } = await installer
    .install('validating', [{ timeoutSeconds: 10 }])
    .then((installed) => ({ ...installed, path: installed.paths[0]! }));
  let depth = 0;
  webhooks.onRequest(path, (response, review) => {
    // Three levels of calls, each inside of the one before.
    if (depth++ === 3) return respond(response, review, { allowed: true });
    void write(labels).then(({ code }) => respond(response, review, { allowed: code === 201 }));
  });
  expect(await write(labels)).toMatchObject({ code: 201, isStored: true });
  expect(webhooks.reviews(path)).toHaveLength(4);
});
