import { HttpClient } from '../harness/http-client.js';
import { startKeelson, type Keelson } from '../../src/testing.js';

// Cases of upstream's end-to-end suite that need no nodes.

let keelson: Keelson;
let admin: HttpClient;
beforeAll(async () => {
  keelson = await startKeelson();
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterAll(async () => {
  admin?.close();
  await keelson?.stop();
});

describe('health endpoints have the required checks', () => {
  const everywhere = [
    ...['ping', 'log', 'etcd', 'autoregister-completion'],
    ...[
      'start-apiserver-admission-initializer',
      'generic-apiserver-start-informers',
      'start-apiextensions-informers',
      'start-apiextensions-controllers',
      'crd-informer-synced',
      'bootstrap-controller',
      'rbac/bootstrap-roles',
      'scheduling/bootstrap-system-priority-classes',
      'start-cluster-authentication-info-controller',
      'start-kube-aggregator-informers',
      'apiservice-registration-controller',
      'apiservice-status-local-available-controller',
      'apiservice-status-remote-available-controller',
      'apiservice-openapi-controller',
      'kube-apiserver-autoregistration',
    ].map((name) => `poststarthook/${name}`),
  ];
  it.each([
    ['/healthz', everywhere],
    ['/livez', everywhere],
    ['/readyz', [...everywhere, 'shutdown', 'informer-sync']],
  ])('%s', async (path, names) => {
    const { code, text } = await admin.get(`${path}?verbose=1`);
    const lines = text.split('\n');
    expect([code, names.filter((name) => !lines.includes(`[+]${name} ok`))]).toEqual([200, []]);
  });
});

it('OpenAPI of a custom kind describes apiVersion as that of built-in kinds', async () => {
  const schema = { type: 'object', description: 'Foo CRD for Testing', properties: { spec: { type: 'object' } } };
  const { code } = await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'foos.explain.example.com' },
    spec: {
      group: 'explain.example.com',
      scope: 'Namespaced',
      names: { plural: 'foos', kind: 'Foo' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  expect(code).toBe(201);
  const deadline = performance.now() + 20_000;
  let explained: string | undefined;
  while (explained === undefined && performance.now() < deadline) {
    const { body } = await admin.get('/openapi/v3/apis/explain.example.com/v1');
    explained = body?.components?.schemas?.['com.example.explain.v1.Foo']?.properties.apiVersion.description as string;
  }
  expect(explained).toMatch(/^APIVersion defines/);
});

it('apply with the uid of an absent object is a conflict (409)', async () => {
  const { code, body } = await admin.request(
    'PATCH',
    '/api/v1/namespaces/default/pods/mytest?fieldManager=test&force=true',
    {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'mytest', uid: '2bd4ad5e-0b3a-4b8e-9b2e-0d6ff4e4b5f0' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
    },
  );
  expect([code, body.message]).toEqual([
    409,
    expect.stringContaining('uid mismatch: the provided object specified uid'),
  ]);
});
