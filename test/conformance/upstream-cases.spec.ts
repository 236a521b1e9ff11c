import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
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
  const crd = customResourceDefinition({ group: 'explain.example.com', plural: 'foos', kind: 'Foo', schema });
  const { code } = await admin.post(definitions, crd);
  expect(code).toBe(201);
  const deadline = performance.now() + 120_000;
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

describe('CustomResourceValidationRules', () => {
  const group = 'rules.upstream.example.com';
  const rules = (...texts: readonly string[]) => ({ 'x-kubernetes-validations': texts.map((rule) => ({ rule })) });
  const integers = (maxItems: number) => ({ type: 'array', maxItems, items: { type: 'integer' } });
  const define = (plural: string, spec: object, status: object = { type: 'object' }) =>
    admin.post(
      definitions,
      customResourceDefinition({
        group,
        plural,
        kind: plural,
        schema: { type: 'object', properties: { spec, status } },
      }),
    );
  const path = (plural: string) => `/apis/${group}/v1/namespaces/default/${plural}`;
  const object = (plural: string, name: string, spec: object) => ({
    apiVersion: `${group}/v1`,
    kind: plural,
    metadata: { name },
    spec,
  });
  async function served(plural: string): Promise<void> {
    const deadline = performance.now() + 120_000;
    while ((await admin.get(path(plural))).code !== 200 && performance.now() < deadline);
  }

  beforeAll(async () => {
    const lists =
      'self.first.isSorted() && self.second.isSorted() && ((self.first.sum() + self.second.sum()) % 2 == 0)';
    const spec = {
      type: 'object',
      ...rules('self.x + self.y > 0', lists, 'self.large.all(a, self.large.all(b, a == b))'),
      properties: {
        x: { type: 'integer' },
        y: { type: 'integer' },
        first: integers(1_000),
        second: integers(1_000),
        large: integers(725),
      },
    };
    const health = { type: 'object', properties: { health: { type: 'string' } } };
    const status = { ...health, ...rules("self.health == 'ok' || self.health == 'unhealthy'") };
    expect((await define('ruled', spec, status)).code).toBe(201);
    const transition = { type: 'object', properties: { number: { type: 'integer', ...rules('self > oldSelf') } } };
    expect((await define('growing', transition)).code).toBe(201);
    await served('ruled');
    await served('growing');
  });

  it('a custom resource that satisfies x-kubernetes-validations is created (201)', async () => {
    const spec = { x: 1, y: 0, first: [3, 4], second: [5, 10], large: [2, 2] };
    expect((await admin.post(path('ruled'), object('ruled', 'valid', spec))).code).toBe(201);
  });

  it('a custom resource that does not satisfy x-kubernetes-validations is rejected (422)', async () => {
    const { code, text } = await admin.post(path('ruled'), object('ruled', 'invalid', { x: 0, y: 0 }));
    expect([code, text]).toEqual([422, expect.stringContaining('failed rule')]);
  });

  it.each([
    [
      'a rule that refers to a property that does not exist',
      { type: 'object', ...rules('self.z == 100'), properties: { x: { type: 'integer' } } },
      "undefined field 'z'",
    ],
    ['a rule with a syntax error', { type: 'object', ...rules('self = 42') }, 'Syntax error'],
    [
      'a rule that exceeds the estimated cost limit',
      {
        type: 'object',
        properties: {
          x: {
            type: 'array',
            items: { type: 'array', items: { type: 'string' }, ...rules("self.all(text, text == 'constant')") },
          },
        },
      },
      'exceeds budget',
    ],
  ])('a custom resource definition with %s is rejected (422)', async (_what, spec, message) => {
    const { code, text } = await define('refused', spec);
    expect([code, text]).toEqual([422, expect.stringContaining(message)]);
  });

  it('a custom resource whose rules exceed the cost limit at run time is rejected (422)', async () => {
    const large = Array.from({ length: 725 }, () => 20);
    const { code, text } = await admin.post(path('ruled'), object('ruled', 'costly', { large }));
    expect([code, text]).toEqual([422, expect.stringContaining('call cost exceeds limit')]);
  });

  it('an update of a custom resource that does not satisfy a transition rule is rejected (422)', async () => {
    const created = await admin.post(path('growing'), object('growing', 'one', { number: 10 }));
    expect(created.code).toBe(201);
    const { code, text } = await admin.put(`${path('growing')}/one`, { ...created.body, spec: { number: 9 } });
    expect([code, text]).toEqual([422, expect.stringContaining('failed rule')]);
  });
});
