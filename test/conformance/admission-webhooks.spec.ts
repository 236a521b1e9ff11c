import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AdmissionWebhooks,
  configMapRule,
  patched,
  registration,
  WebhookInstaller,
  type Answer,
} from '../harness/admission-webhook.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMaps, messageOf, webhookRequests, type WebhookRequests } from '../harness/webhook-requests.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
let { newName, post, validating, mutating } = {} as WebhookRequests;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
  ({ newName, post, validating, mutating } = webhookRequests(world));
});
afterAll(() => world.stop());

const deny =
  (status?: object): Answer =>
  () => ({ allowed: false, ...(status && { status }) });

describe('the AdmissionReview', () => {
  it('has the request as kube-apiserver describes it', async () => {
    const { labels, path } = await validating({});
    await admin.post(`${configMaps}?fieldManager=me&fieldValidation=Strict`, {
      metadata: { name: 'full', labels },
      data: { a: 'b' },
    });
    const [{ review, url, headers } = { review: undefined, url: '', headers: undefined }] = webhooks.at(path);
    expect(url).toBe(`${path}?timeout=10s`);
    expect(headers?.['content-type']).toBe('application/json');
    expect(review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
    expect(review?.request).toEqual({
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'full',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: expect.objectContaining({ groups: expect.arrayContaining(['system:masters']) as string[] }) as object,
      object: expect.objectContaining({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'b' } }) as object,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', fieldValidation: 'Strict' },
    });
  });

  it('has both objects of an update, and UpdateOptions for a patch', async () => {
    const { labels, reviews } = await validating({});
    const name = newName();
    await admin.post(configMaps, { metadata: { name, labels }, data: { a: '1' } });
    await admin.patch(`${configMaps}/${name}?fieldManager=p`, { data: { a: '2' } });
    expect(reviews()[1]).toMatchObject({
      operation: 'UPDATE',
      object: { data: { a: '2' } },
      oldObject: { data: { a: '1' } },
      options: { kind: 'UpdateOptions', fieldManager: 'p' },
    });
  });

  it('has the old object and the DeleteOptions of a deletion, for both kinds of webhooks', async () => {
    const rules = [{ ...configMapRule, operations: ['DELETE'] }];
    const validated = await validating({ rules });
    const mutated = await installer.install('mutating', [{ rules, objectSelector: { matchLabels: validated.labels } }]);
    const name = newName();
    await admin.post(configMaps, { metadata: { name, labels: validated.labels } });
    await admin.delete(`${configMaps}/${name}`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    for (const reviews of [validated.reviews(), webhooks.reviews(mutated.paths[0]!)]) {
      expect(reviews).toHaveLength(1);
      expect(reviews[0]).toMatchObject({
        operation: 'DELETE',
        object: null,
        oldObject: { metadata: { name } },
        options: { kind: 'DeleteOptions', gracePeriodSeconds: 0, propagationPolicy: 'Background' },
      });
    }
  });

  it('has the kind and the subresource of a subresource', async () => {
    const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments/scale'] }];
    const { path, name } = await validating({ rules, objectSelector: {} });
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await admin.post(deployments, {
      metadata: { name },
      spec: { replicas: 0, selector: { matchLabels: { app: name } }, template },
    });
    await admin.patch(`${deployments}/${name}/scale`, { spec: { replicas: 3 } });
    expect(webhooks.reviews(path)).toMatchObject([
      {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: 'apps', version: 'v1', resource: 'deployments' },
        subResource: 'scale',
        requestSubResource: 'scale',
        object: { kind: 'Scale', spec: { replicas: 3 } },
        oldObject: { kind: 'Scale', spec: {} },
      },
    ]);
    await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
  });

  it('is of the first version in admissionReviewVersions that this server sends', async () => {
    const { labels, path } = await validating({ admissionReviewVersions: ['v2', 'v1beta1', 'v1'] });
    expect((await post(labels)).code).toBe(201);
    expect(webhooks.at(path)[0]?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
  });
});

describe('denials', () => {
  it.each<[string, object | undefined, number, string]>([
    ['a message', { message: 'not today' }, 400, ': not today'],
    ['a code and a reason', { code: 403, reason: 'Forbidden', message: 'no' }, 403, ': no'],
    ['a reason without a message', { code: 409, reason: 'Conflict' }, 409, ': Conflict'],
    ['no status', undefined, 400, ' without explanation'],
    ['an empty status', {}, 400, ' without explanation'],
    ['a code of success', { code: 200, status: 'Success', message: 'm' }, 400, ': m'],
    ['a reason of its own', { code: 418, reason: 'Teapot', message: 'm' }, 418, ': m'],
  ])('with %s', async (_title, status, code, suffix) => {
    const { labels, name } = await validating({}, deny(status));
    const answer = await post(labels);
    const reason = (status as { readonly reason?: string } | undefined)?.reason;
    expect([answer.code, answer.body]).toEqual([
      code,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `admission webhook "h0.${name}.test" denied the request${suffix}`,
        ...(reason !== undefined && { reason }),
        code,
      },
    ]);
    expect((await post({ other: 'x' })).code).toBe(201);
  });

  it('keep details, without unknown fields', async () => {
    const details = { name: 'n', kind: 'k', causes: [{ field: 'f', message: 'm', reason: 'r' }], retryAfterSeconds: 7 };
    const { labels } = await validating(
      {},
      deny({ code: 429, reason: 'TooManyRequests', details: { ...details, x: 1 } }),
    );
    const answer = await post(labels);
    expect(answer.body).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect((answer.body as { readonly details: object }).details).toEqual(details);
    expect(answer.headers['retry-after']).toBe('7');
  });

  it('of a mutating webhook refuse the request before validating ones are called', async () => {
    const { labels } = await mutating([{ answer: deny({ message: 'no' }) }]);
    const later = await installer.install('validating', [{ objectSelector: { matchLabels: labels } }]);
    expect(messageOf(await post(labels))).toContain('denied the request: no');
    expect(webhooks.at(later.paths[0]!)).toEqual([]);
  });

  it('warnings of all webhooks reach the client, with those of a denial', async () => {
    const { labels } = await validating({}, () => ({
      allowed: false,
      warnings: ['mind "this"', 'and that\r\nX-Evil: 1'],
    }));
    const { headers } = await post(labels);
    expect([headers['warning']].flat().join(', ')).toBe('299 - "mind \\"this\\"", 299 - "and that  X-Evil: 1"');
    expect(headers['x-evil']).toBeUndefined();
  });
});

describe('selection', () => {
  it.each<[string, object, boolean]>([
    ['another operation', { rules: [{ ...configMapRule, operations: ['UPDATE'] }] }, false],
    ['all operations', { rules: [{ ...configMapRule, operations: ['*'] }] }, true],
    [
      'another version with matchPolicy Exact',
      { matchPolicy: 'Exact', rules: [{ ...configMapRule, apiVersions: ['v2'] }] },
      false,
    ],
    ['all resources', { rules: [{ ...configMapRule, apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] }, true],
    ['all resources and subresources', { rules: [{ ...configMapRule, resources: ['*/*'] }] }, true],
    ['a subresource', { rules: [{ ...configMapRule, resources: ['configmaps/status'] }] }, false],
    ['scope Cluster', { rules: [{ ...configMapRule, scope: 'Cluster' }] }, false],
    ['scope Namespaced', { rules: [{ ...configMapRule, scope: 'Namespaced' }] }, true],
    ['no rule', { rules: [] }, false],
    [
      'a namespaceSelector with the name',
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
      true,
    ],
    [
      'a namespaceSelector with another name',
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } },
      false,
    ],
    ['a condition that holds', { matchConditions: [{ name: 'a', expression: 'object.data.a == "1"' }] }, true],
    ['a condition that does not hold', { matchConditions: [{ name: 'a', expression: 'object.data.a == "2"' }] }, false],
    [
      'one of two conditions that does not hold',
      {
        matchConditions: [
          { name: 'a', expression: 'object.data.missing == "2"' },
          { name: 'b', expression: 'request.operation != "CREATE"' },
        ],
      },
      false,
    ],
    [
      'a condition that fails with failurePolicy Ignore',
      { failurePolicy: 'Ignore', matchConditions: [{ name: 'a', expression: 'object.data.missing == "2"' }] },
      false,
    ],
  ])('by %s', async (_title, fields, isCalled) => {
    const { labels, reviews } = await validating(fields);
    expect((await post(labels, { data: { a: '1' } })).code).toBe(201);
    expect(reviews()).toHaveLength(isCalled ? 1 : 0);
  });

  it('a condition that fails refuses the request (403)', async () => {
    const expression = 'object.data.missing == "2"';
    const { labels, reviews } = await validating({ matchConditions: [{ name: 'a', expression }] });
    const answer = await post(labels, { data: { a: '1' } });
    expect([answer.code, messageOf(answer)]).toEqual([
      403,
      expect.stringMatching(/^configmaps "o\d+" is forbidden: .*no such key: missing/),
    ]);
    expect(reviews()).toEqual([]);
  });

  it('objectSelector selects by the old labels too', async () => {
    const { labels, reviews } = await validating({});
    const name = newName();
    await admin.post(configMaps, { metadata: { name, labels } });
    await admin.patch(`${configMaps}/${name}`, { metadata: { labels: null } });
    await admin.patch(`${configMaps}/${name}`, { data: { a: 'b' } });
    expect(reviews().map(({ operation }) => operation)).toEqual(['CREATE', 'UPDATE']);
  });

  it('namespaceSelector selects a new Namespace by its own labels', async () => {
    const rules = [{ ...configMapRule, resources: ['namespaces'] }];
    const { name, reviews } = await validating(
      { rules, objectSelector: {}, namespaceSelector: { matchLabels: { watched: 'yes' } } },
      deny({ message: 'no' }),
    );
    const create = (labels: object) =>
      admin.post('/api/v1/namespaces?dryRun=All', { metadata: { name: newName(), labels } });
    expect([(await create({})).code, (await create({ watched: 'yes' })).code]).toEqual([201, 400]);
    expect(reviews()).toHaveLength(1);
    await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
  });

  it('a generated name is seen by validating webhooks only, and a mutating one can set another', async () => {
    const { labels, paths } = await mutating([{}]);
    const objectSelector = { matchLabels: labels };
    const { name: configuration, reviews } = await validating({ objectSelector });
    const generated = { metadata: { generateName: 'g-', labels } };
    const { name } = (await admin.post(configMaps, generated)).body.metadata as { name: string };
    expect(name).toMatch(/^g-.{5}$/);
    const [mutated] = webhooks.reviews(paths[0]!);
    expect([mutated!.name, (mutated!.object as KubeObject).metadata]).toEqual([
      undefined,
      expect.not.objectContaining({ name: expect.anything() as string }),
    ]);
    expect(reviews()).toMatchObject([{ name, object: { metadata: { name } } }]);
    webhooks.on(paths[0]!, () => patched([{ op: 'add', path: '/metadata/name', value: 'set-by-webhook' }]));
    expect((await admin.post(configMaps, generated)).body.metadata.name).toBe('set-by-webhook');
    // The name of the review is that of the request, also if a webhook has changed it.
    webhooks.on(paths[0]!, () => patched([{ op: 'add', path: '/metadata/name', value: 'changed' }]));
    await admin.post(configMaps, { metadata: { name: 'requested', labels } });
    expect(reviews().at(-1)).toMatchObject({ name: 'requested', object: { metadata: { name: 'changed' } } });
    await admin.delete(`${registration}/validatingwebhookconfigurations/${configuration}`);
  });

  it('a virtual resource and a CONNECT are seen by their rules', async () => {
    const rules = [
      {
        apiGroups: ['authorization.k8s.io'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['selfsubjectaccessreviews'],
      },
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] },
    ];
    const { name, reviews } = await validating({ rules, objectSelector: {} }, deny({ message: 'no' }));
    const review = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } };
    const reviewed = await admin.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
    const connected = await admin.post('/api/v1/namespaces/default/pods/p/exec?command=ls', {});
    expect([reviewed.code, connected.code]).toEqual([400, 400]);
    expect(reviews()).toMatchObject([
      { operation: 'CREATE', kind: { kind: 'SelfSubjectAccessReview' } },
      { operation: 'CONNECT', kind: { kind: 'PodExecOptions' }, subResource: 'exec', options: null, name: 'p' },
    ]);
    await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
  });

  it('no webhook sees the objects that configure admission, so that they can always be repaired', async () => {
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }];
    const given = { rules, objectSelector: {}, namespaceSelector: { matchLabels: { none: 'none' } } };
    const { name, reviews } = await validating(given, deny());
    await installer.settled('mutating');
    expect((await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`)).code).toBe(200);
    expect(reviews()).toEqual([]);
  });
});

describe('matchPolicy Equivalent', () => {
  const group = 'webhooks.example.com';
  const things = (version: string) => `/apis/${group}/${version}/namespaces/default/things`;
  beforeAll(async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const answer = await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      },
    });
    expect(answer.code).toBe(201);
    await installer.settled('mutating');
  });
  const rules = [{ apiGroups: [group], apiVersions: ['v2'], operations: ['*'], resources: ['things'] }];

  it('converts the object to the version of the rule, and the patched object back', async () => {
    const { labels, paths } = await mutating([
      { rules, answer: () => patched([{ op: 'add', path: '/spec', value: { a: 1 } }]) },
    ]);
    const created = await admin.post(things('v1'), { metadata: { name: newName(), labels } });
    expect([created.code, created.body]).toMatchObject([201, { apiVersion: `${group}/v1`, spec: { a: 1 } }]);
    expect(webhooks.reviews(paths[0]!)).toMatchObject([
      {
        kind: { version: 'v2' },
        resource: { version: 'v2' },
        requestKind: { version: 'v1' },
        requestResource: { version: 'v1' },
        object: { apiVersion: `${group}/v2` },
      },
    ]);
  });

  it('Exact selects the requested version only', async () => {
    const { labels, reviews } = await validating({ rules, matchPolicy: 'Exact' }, deny());
    expect((await admin.post(things('v1'), { metadata: { name: newName(), labels } })).code).toBe(201);
    expect((await admin.post(things('v2'), { metadata: { name: newName(), labels } })).code).toBe(400);
    expect(reviews()).toHaveLength(1);
  });
});

describe('dry run', () => {
  it.each(['None', 'NoneOnDryRun'])('calls a webhook with sideEffects %s', async (sideEffects) => {
    const { labels, reviews } = await validating({ sideEffects });
    expect((await post(labels, {}, '?dryRun=All')).code).toBe(201);
    expect(reviews()).toMatchObject([{ dryRun: true, options: { dryRun: ['All'] } }]);
  });
});

it('a deleted configuration does not count any more', async () => {
  const { labels, name } = await validating({}, deny());
  expect((await post(labels)).code).toBe(400);
  await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
  await installer.settled('validating');
  expect((await post(labels)).code).toBe(201);
});

it('calls, rejections and ignored failures are counted', async () => {
  const { labels, name } = await validating({}, deny({ code: 403 }));
  await post(labels);
  const ignored = await validating({ failurePolicy: 'Ignore', clientConfig: { url: 'https://localhost:1/' } });
  await post(ignored.labels);
  const { text } = await admin.get('/metrics');
  const lines = text
    .split('\n')
    .filter((line) => line.includes(`"h0.${name}.test"`) || line.includes(`"h0.${ignored.name}.test"`));
  const labelled = `name="h0.${name}.test",type="validating",operation="CREATE"`;
  expect(lines).toEqual(
    expect.arrayContaining([
      `apiserver_admission_webhook_request_total{${labelled},code="403",rejected="true"} 1`,
      `apiserver_admission_webhook_rejection_count{${labelled},error_type="no_error",rejection_code="403"} 1`,
      `apiserver_admission_webhook_fail_open_count{name="h0.${ignored.name}.test",type="validating"} 1`,
    ]),
  );
  expect(lines.some((line) => line.startsWith('apiserver_admission_webhook_admission_duration_seconds_count{'))).toBe(
    true,
  );
});

describe('with a directory', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-webhooks-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('webhooks get the credentials that --admission-control-config-file names for their host', async () => {
    const file = (name: string, content: object) => writeFile(join(directory, name), JSON.stringify(content));
    const token = 'token-for-localhost';
    await file('webhooks.kubeconfig', { users: [{ name: `localhost:${webhooks.port}`, user: { token } }] });
    const apiVersion = 'apiserver.config.k8s.io/v1';
    const kind = 'WebhookAdmissionConfiguration';
    const configuration = { apiVersion, kind, kubeConfigFile: 'webhooks.kubeconfig' };
    await file('admission.yaml', {
      apiVersion,
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'ValidatingAdmissionWebhook', configuration }],
    });
    const config = { admission: { controlConfigFile: join(directory, 'admission.yaml') } };
    const other = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
    try {
      const ofOther = new WebhookInstaller(other.admin, webhooks);
      const validated = await ofOther.install('validating', [{}]);
      const mutated = await ofOther.install('mutating', [{ objectSelector: { matchLabels: validated.labels } }]);
      const metadata = { name: newName(), labels: validated.labels };
      expect((await other.admin.post(configMaps, { metadata })).code).toBe(201);
      const sent = ({ paths }: { readonly paths: readonly string[] }) =>
        webhooks.at(paths[0]!).map(({ headers }) => headers.authorization);
      expect([sent(validated), sent(mutated)]).toEqual([[`Bearer ${token}`], [undefined]]);
    } finally {
      await other.stop();
    }
  });

  it('a server whose webhooks refuse everything starts again, and its administrator can delete them', async () => {
    const start = () => startTestServer({ store: 'embedded', naming: 'kubernetes' }, { directory });
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }];
    const broken = {
      name: 'all.webhooks.test',
      rules,
      clientConfig: { url: 'https://localhost:1/' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const refuses = async ({ admin: client }: TestServer) =>
      (await client.post(`${configMaps}?dryRun=All`, { metadata: { name: newName() } })).code === 500;
    let own = await start();
    try {
      for (const kind of ['mutating', 'validating']) {
        const path = `${registration}/${kind}webhookconfigurations`;
        expect((await own.admin.post(path, { metadata: { name: 'broken' }, webhooks: [broken] })).code).toBe(201);
      }
      await eventually('the webhooks are in force', () => refuses(own));
      await own.stop();
      own = await start();
      expect(await refuses(own)).toBe(true);
      for (const kind of ['mutating', 'validating']) {
        expect((await own.admin.delete(`${registration}/${kind}webhookconfigurations/broken`)).code).toBe(200);
      }
      await eventually('the webhooks are gone', async () => !(await refuses(own)));
    } finally {
      await own.stop();
    }
  });
});
