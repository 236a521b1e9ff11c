import type { KubeObject } from '../../src/machinery/kube-object.js';
import { ConversionWebhook, respond, type ConversionReview } from '../harness/conversion-webhook.js';
import { definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const group = 'convert.example.com';

/** v1 has spec.size and v2 has spec.dimensions.size. */
function schemaOf(name: string): object {
  const size = { type: 'integer', minimum: 0 };
  const spec =
    name === 'v1'
      ? { size, color: { type: 'string', default: 'blue' } }
      : { dimensions: { type: 'object', properties: { size } }, color: { type: 'string', default: 'blue' } };
  const objects = { type: 'object', properties: spec };
  return { type: 'object', properties: { spec: objects, status: { type: 'object', properties: { ready: size } } } };
}

interface Box {
  readonly [field: string]: unknown;
  readonly spec?: Record<string, unknown>;
}

function convertBox(object: Box, version: string): Record<string, unknown> {
  const { size, dimensions, ...rest } = (object.spec ?? {}) as { size?: number; dimensions?: { size?: number } };
  const value = size ?? dimensions?.size;
  const sized = value === undefined ? {} : version === 'v1' ? { size: value } : { dimensions: { size: value } };
  return { ...object, spec: { ...rest, ...sized } };
}

let server: TestServer;
let webhook: ConversionWebhook;
beforeAll(async () => {
  webhook = await ConversionWebhook.start();
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
});
afterAll(async () => {
  await server.stop();
  await webhook.stop();
});
beforeEach(() => {
  webhook.answer = undefined;
  webhook.convert = convertBox;
});

let count = 0;

interface Kind {
  readonly plural: string;
  path(version: string, name?: string): string;
}

const versionOf = (name: string, storage: string) => ({
  name,
  served: true,
  storage: name === storage,
  schema: { openAPIV3Schema: schemaOf(name) },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: name === 'v1' ? '.spec.size' : '.spec.dimensions.size',
      statusReplicasPath: '.status.ready',
    },
  },
});

/** Defines a kind with the versions v1 and v2, each test its own. */
async function define(storage = 'v2'): Promise<Kind> {
  const plural = `boxes${++count}`;
  const name = `${plural}.${group}`;
  const { code, text } = await server.admin.post(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: `Box${count}` },
      versions: [versionOf('v1', storage), versionOf('v2', storage)],
      conversion: webhook.conversion,
    },
  });
  if (code !== 201) throw new Error(text);
  await until(server.admin, definitions, name, (object) =>
    ((object?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    ),
  );
  const path = (version: string, object?: string) =>
    `/apis/${group}/${version}/namespaces/default/${plural}${object === undefined ? '' : `/${object}`}`;
  await eventually('both versions are served', async () => (await server.admin.get(path('v1'))).code === 200);
  return { plural, path };
}

const box = (name: string, version: string, spec: object, more: object = {}) => ({
  apiVersion: `${group}/${version}`,
  kind: `Box${count}`,
  metadata: { name, ...more },
  spec,
});

it('an object created in one version is read, listed and watched in both', async () => {
  const { path } = await define();
  const watchV1 = await server.admin.watch(`${path('v1')}?watch=true&resourceVersion=0`);
  const watchV2 = await server.admin.watch(`${path('v2')}?watch=true&resourceVersion=0`);
  const created = await server.admin.post(path('v1'), box('a', 'v1', { size: 3 }));
  expect([created.code, created.body.apiVersion, created.body.spec]).toEqual([
    201,
    `${group}/v1`,
    { size: 3, color: 'blue' },
  ]);
  const [one] = await watchV1.take(1);
  const [two] = await watchV2.take(1);
  expect(one).toMatchObject({ type: 'ADDED', object: { apiVersion: `${group}/v1`, spec: { size: 3, color: 'blue' } } });
  expect(two).toMatchObject({
    type: 'ADDED',
    object: { apiVersion: `${group}/v2`, spec: { dimensions: { size: 3 } } },
  });
  for (const [version, spec] of [
    ['v1', { size: 3, color: 'blue' }],
    ['v2', { dimensions: { size: 3 }, color: 'blue' }],
  ] as const) {
    expect((await server.admin.get(path(version, 'a'))).body).toMatchObject({
      apiVersion: `${group}/${version}`,
      spec,
    });
    expect((await server.admin.get(path(version))).body.items).toMatchObject([
      { apiVersion: `${group}/${version}`, spec },
    ]);
  }
  await server.admin.delete(path('v1', 'a'));
  expect(await watchV1.take(1)).toMatchObject([{ type: 'DELETED', object: { spec: { size: 3 } } }]);
  watchV1.close();
  watchV2.close();
});

it('PUT, patches and apply in a version change the object in the other version', async () => {
  const { path } = await define();
  const { admin } = server;
  const { body } = await admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 1 } }));
  const put = await admin.put(path('v1', 'a'), {
    ...box('a', 'v1', { size: 2 }),
    metadata: { name: 'a', resourceVersion: body.metadata.resourceVersion },
  });
  expect([put.code, put.body.spec]).toEqual([200, { size: 2, color: 'blue' }]);
  const merged = await admin.patch(path('v1', 'a'), { spec: { size: 4 } }, 'application/merge-patch+json');
  expect([merged.code, merged.body.spec]).toEqual([200, { size: 4, color: 'blue' }]);
  const patched = await admin.patch(
    path('v1', 'a'),
    [{ op: 'replace', path: '/spec/size', value: 5 }],
    'application/json-patch+json',
  );
  expect([patched.code, patched.body.spec]).toEqual([200, { size: 5, color: 'blue' }]);
  const applied = await admin.patch(
    `${path('v1', 'a')}?fieldManager=me&force=true`,
    box('a', 'v1', { size: 6 }),
    'application/apply-patch+yaml',
  );
  expect([applied.code, applied.body.spec]).toEqual([200, { size: 6, color: 'blue' }]);
  const again = await admin.patch(
    `${path('v2', 'a')}?fieldManager=me`,
    box('a', 'v2', { dimensions: { size: 7 } }),
    'application/apply-patch+yaml',
  );
  expect([again.code, again.body.spec]).toEqual([200, { dimensions: { size: 7 }, color: 'blue' }]);
  const status = await admin.patch(
    `${path('v1', 'a')}/status`,
    { status: { ready: 1 } },
    'application/merge-patch+json',
  );
  expect([status.code, status.body.status]).toEqual([200, { ready: 1 }]);
  const scaled = await admin.patch(
    `${path('v1', 'a')}/scale`,
    { spec: { replicas: 9 } },
    'application/merge-patch+json',
  );
  expect([scaled.code, scaled.body.spec]).toEqual([200, { replicas: 9 }]);
  expect((await admin.get(path('v2', 'a'))).body).toMatchObject({
    spec: { dimensions: { size: 9 } },
    status: { ready: 1 },
  });
});

it('an invalid object is rejected by the schema of the version of the request (422)', async () => {
  const { path } = await define();
  const refused = await server.admin.post(path('v1'), box('a', 'v1', { size: -1 }));
  expect([refused.code, refused.body.message]).toEqual([
    422,
    expect.stringContaining('spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0'),
  ]);
});

it('a hundred watchers of another version cost one request for each event', async () => {
  const { path } = await define();
  await server.admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 0 } }));
  const watchers = await Promise.all(
    Array.from({ length: 100 }, () => server.admin.watch(`${path('v1')}?watch=true&resourceVersion=0`)),
  );
  for (const watcher of watchers) await watcher.take(1);
  const before = webhook.reviews.length;
  for (let size = 1; size <= 5; size++) {
    await server.admin.patch(path('v2', 'a'), { spec: { dimensions: { size } } }, 'application/merge-patch+json');
  }
  for (const watcher of watchers) {
    const sizes = (await watcher.take(5)).map(({ object }) => (object as unknown as Box).spec?.['size']);
    expect(sizes).toEqual([1, 2, 3, 4, 5]);
  }
  expect(webhook.reviews.length - before).toBe(5);
  for (const watcher of watchers) watcher.close();
});

it('a list asks for many objects in one request, and a second list for none', async () => {
  const { path } = await define();
  for (let number = 0; number < 40; number++) {
    await server.admin.post(path('v2'), box(`b${number}`, 'v2', { dimensions: { size: number } }));
  }
  const before = webhook.reviews.length;
  const list = await server.admin.get(path('v1'));
  expect(list.body.items).toHaveLength(40);
  expect(list.body.items[3].spec).toHaveProperty('size');
  expect(webhook.reviews.length - before).toBe(1);
  expect(webhook.reviews.at(-1)!.request.objects).toHaveLength(40);
  expect((await server.admin.get(path('v1'), { Accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })).body.rows).toHaveLength(40); // prettier-ignore
  expect((await server.admin.get(path('v1'), { Accept: 'application/yaml' })).text).toContain('size: 39');
  expect(webhook.reviews.length - before).toBe(1);
});

it('objects of an earlier storage version are converted, and stored anew by their next write', async () => {
  const { plural, path } = await define('v1');
  const { admin } = server;
  await admin.post(path('v1'), box('a', 'v1', { size: 1 }));
  const name = `${plural}.${group}`;
  const switched = await admin.patch(
    `${definitions}/${name}`,
    { spec: { versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } },
    'application/merge-patch+json',
  );
  expect(switched.code).toBe(200);
  expect((await until(admin, definitions, name, (it) => JSON.stringify(it).includes('"storedVersions":["v1","v2"]')))).toBeDefined(); // prettier-ignore
  await eventually('both versions are served', async () => (await admin.get(path('v2', 'a'))).code === 200);
  expect((await admin.get(path('v2', 'a'))).body).toMatchObject({
    apiVersion: `${group}/v2`,
    spec: { dimensions: { size: 1 } },
  });
  expect((await admin.get(path('v1', 'a'))).body).toMatchObject({ apiVersion: `${group}/v1`, spec: { size: 1 } });
  const { body } = await admin.get(path('v2', 'a'));
  const same = await admin.put(path('v2', 'a'), body);
  expect([same.code, same.body.metadata.resourceVersion === body.metadata.resourceVersion]).toEqual([200, false]);
  webhook.answer = (_review, response) => void response.writeHead(500).end();
  expect((await admin.get(path('v2', 'a'))).code).toBe(200);
});

// prettier-ignore
const failures: readonly [what: string, answer: NonNullable<ConversionWebhook['answer']>, message: RegExp][] = [
  ['an error', (_review, response) => void response.writeHead(500).end('no'), /failed: an error on the server/],
  ['no JSON', (_review, response) => void response.writeHead(200).end('garbage'), /failed: the answer is not JSON/],
  ['a failure', (review, response) => respond(response, review, [], { status: 'Failure', message: 'cannot convert' }), /failed: cannot convert$/],
  ['no objects', (review, response) => respond(response, review, []), /returned 0 objects, expected 1$/],
  ['another uid', (review, response) => respond(response, { ...review, request: { ...review.request, uid: 'x' } }, review.request.objects), /failed: expected response\.uid=".*", got "x"$/],
  ['another apiVersion', (review, response) => respond(response, review, review.request.objects), /returned invalid object at index 0: invalid groupVersion \(expected .*\/v1, received .*\/v2\)$/],
  ['another name', changing((object) => ({ ...object, metadata: { ...object.metadata, name: 'x' } })), /returned invalid object: must have the same name: a != x$/],
  ['an invalid label', changing((object) => ({ ...object, metadata: { ...object.metadata, labels: { 'a b': 'c' } } })), /returned invalid metadata: metadata\.labels: .*a b/],
  ['no metadata', changing(({ metadata: _metadata, ...object }) => object), /returned invalid object: must have the same name: a != $/],
];

function changing(change: (object: ConversionReview['request']['objects'][number]) => unknown) {
  return (review: ConversionReview, response: Parameters<NonNullable<ConversionWebhook['answer']>>[1]) =>
    respond(
      response,
      review,
      webhook.converted(review).map((object) => change(object as never)),
    );
}

it.each(failures)(
  'a webhook that answers %s fails reads of the other version (500), and no others',
  async (...[, answer, message]) => {
    const { path } = await define();
    await server.admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 1 } }));
    webhook.answer = answer;
    const failed = await server.admin.get(path('v1', 'a'));
    expect([failed.code, failed.body.message]).toEqual([500, expect.stringMatching(message)]);
    expect(failed.body.message).toContain(`conversion webhook for ${group}/v2, Kind=Box${count} `);
    expect(failed.body.reason).toBeUndefined();
    expect((await server.admin.get(path('v1'))).code).toBe(500);
    expect((await server.admin.post(path('v1'), box('b', 'v1', { size: 1 }))).code).toBe(500);
    expect((await server.admin.get(path('v2', 'a'))).code).toBe(200);
    const watch = await server.admin.watch(`${path('v1')}?watch=true&resourceVersion=0`);
    expect(await watch.take(1)).toMatchObject([{ type: 'ERROR', object: { code: 500 } }]);
    webhook.answer = undefined;
    expect((await server.admin.get(path('v1', 'a'))).code).toBe(200);
  },
);

it('a webhook may change labels and annotations, and no other metadata', async () => {
  const { path } = await define();
  webhook.convert = (object, version) => ({
    ...convertBox(object, version),
    metadata: { ...object.metadata, labels: { in: version }, generation: 77, finalizers: ['x.example.com/y'] },
  });
  await server.admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 1 } }, { labels: { own: 'yes' } }));
  const { metadata } = (await server.admin.get(path('v1', 'a'))).body;
  expect([metadata.labels, metadata.generation, metadata.finalizers]).toEqual([{ in: 'v1' }, 1, undefined]);
});

it('versions that nobody uses never call the webhook', async () => {
  const { path } = await define();
  const before = webhook.reviews.length;
  await server.admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 1 } }));
  await server.admin.get(path('v2', 'a'));
  await server.admin.get(path('v2'));
  await server.admin.delete(path('v2', 'a'));
  expect(webhook.reviews.length).toBe(before);
});

it('admission policies for one version see and change objects that are written in the other', async () => {
  const { plural, path } = await define();
  const { admin } = server;
  const policies = '/apis/admissionregistration.k8s.io/v1';
  const resourceRules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [plural] }];
  const matchConstraints = { resourceRules, matchPolicy: 'Equivalent' };
  const paramKind = { apiVersion: `${group}/v1`, kind: `Box${count}` };
  await admin.post(path('v2'), box('limit', 'v2', { dimensions: { size: 5 } }));
  const put = async (collection: string, name: string, spec: object) => {
    const { code, text } = await admin.post(`${policies}/${collection}`, { metadata: { name }, spec });
    if (code !== 201) throw new Error(text);
  };
  const validations = [{ expression: 'object.spec.size <= params.spec.size', message: 'too large' }];
  await put('validatingadmissionpolicies', plural, { matchConstraints, paramKind, validations });
  await put('validatingadmissionpolicybindings', plural, {
    policyName: plural,
    validationActions: ['Deny'],
    paramRef: { name: 'limit', namespace: 'default', parameterNotFoundAction: 'Deny' },
  });
  const expression = 'Object{spec: Object.spec{size: object.spec.size + 1}}';
  await put('mutatingadmissionpolicies', plural, {
    matchConstraints,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  });
  await put('mutatingadmissionpolicybindings', plural, { policyName: plural });
  await eventually('the policies are in force', async () => {
    const probe = await admin.post(`${path('v2')}?dryRun=All`, box('probe', 'v2', { dimensions: { size: 5 } }));
    return probe.code !== 201;
  });
  const refused = await admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 5 } }));
  expect([refused.code, refused.body.message]).toEqual([422, expect.stringContaining('too large')]);
  const changed = await admin.post(path('v2'), box('a', 'v2', { dimensions: { size: 4 } }));
  expect([changed.code, changed.body.spec]).toEqual([201, { dimensions: { size: 5 }, color: 'blue' }]);
});

it('a kind and a namespace are deleted while the webhook is down', async () => {
  const { plural, path } = await define();
  const { admin } = server;
  await admin.post('/api/v1/namespaces', { metadata: { name: 'going' } });
  const inNamespace = path('v2').replace('/default/', '/going/');
  for (const collection of [path('v2'), inNamespace]) {
    expect((await admin.post(collection, box('a', 'v2', { dimensions: { size: 1 } }))).code).toBe(201);
  }
  webhook.answer = (_review, response) => void response.writeHead(500).end();
  expect((await admin.delete('/api/v1/namespaces/going')).code).toBe(200);
  await untilGone(admin, '/api/v1/namespaces', 'going');
  expect((await admin.delete(`${definitions}/${plural}.${group}`)).code).toBe(200);
  await untilGone(admin, definitions, `${plural}.${group}`);
});

it('watchers of both versions see every change in one order while answers of the webhook are late', async () => {
  const { path } = await define();
  const { admin } = server;
  let delayed = 0;
  webhook.answer = (review, response) =>
    void setTimeout(() => respond(response, review, webhook.converted(review)), (delayed++ * 7) % 23);
  const [first, ...others] = await Promise.all(
    ['v2', 'v1', 'v1'].map((version) => admin.watch(`${path(version)}?watch=true&resourceVersion=0`)),
  );
  const writer = async (name: string, version: string) => {
    const field = (size: number) => (version === 'v1' ? { size } : { dimensions: { size } });
    for (let round = 1; round <= 5; round++) {
      await admin.post(path(version), box(name, version, field(round)));
      for (let size = 1; size <= 4; size++) await admin.patch(path(version, name), { spec: field(size) });
      await admin.delete(path(version, name));
    }
  };
  await Promise.all([writer('a', 'v1'), writer('b', 'v2'), writer('c', 'v1'), writer('d', 'v2')]);
  const late = await admin.watch(`${path('v1')}?watch=true&resourceVersion=0`);
  await admin.post(path('v2'), box('last', 'v2', {}));
  const untilLast = async (watch: typeof late) => {
    const seen: string[] = [];
    for await (const { type, object } of watch) {
      const { name, resourceVersion } = (object as unknown as KubeObject).metadata;
      if (name === 'last') break;
      const { size, dimensions } = (object as { spec?: { size?: number; dimensions?: { size?: number } } }).spec ?? {};
      seen.push(`${type} ${name} ${resourceVersion} ${size ?? dimensions?.size}`);
    }
    watch.close();
    return seen;
  };
  const expected = await untilLast(first!);
  expect(expected.length).toBeGreaterThanOrEqual(4 * 5 * 5);
  for (const watch of others) expect(await untilLast(watch)).toEqual(expected);
  expect(await untilLast(late)).toEqual([]);
});
