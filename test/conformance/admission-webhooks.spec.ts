import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AdmissionWebhooks,
  configMapRule,
  patched,
  registration,
  respond,
  WebhookInstaller,
  type Answer,
} from '../harness/admission-webhook.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { eventually } from '../harness/eventually.js';
import type { Answer as HttpAnswer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

const configMaps = '/api/v1/namespaces/default/configmaps';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
});
afterAll(() => world.stop());

let objects = 0;
const newName = () => `o${objects++}`;
const post = (labels: object, fields: object = {}, query = '') =>
  admin.post(`${configMaps}${query}`, { metadata: { name: newName(), labels }, ...fields });
const messageOf = ({ body }: HttpAnswer) => (body as { readonly message?: string }).message;
const dataOf = ({ body }: HttpAnswer) => (body as { readonly data?: Record<string, string> }).data;
const deny =
  (status?: object): Answer =>
  () => ({ allowed: false, ...(status && { status }) });

async function validating(fields: object, answer?: Answer) {
  const installed = await installer.install('validating', [fields]);
  const [path = ''] = installed.paths;
  if (answer) webhooks.on(path, answer);
  return { ...installed, path, reviews: () => webhooks.reviews(path) };
}

async function mutating(
  given: readonly { readonly [field: string]: unknown; readonly answer?: Answer }[],
  prefix?: string,
) {
  const installed = await installer.install(
    'mutating',
    given.map(({ answer: _answer, ...fields }) => fields),
    prefix,
  );
  given.forEach(({ answer }, index) => answer && webhooks.on(installed.paths[index]!, answer));
  return installed;
}

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

describe('mutations', () => {
  const add = (key: string, value: string) => ({ op: 'add', path: `/data/${key}`, value });

  it('are stored, and seen by validating webhooks', async () => {
    const { labels } = await mutating([{ answer: () => patched([add('b', '2')]) }]);
    const later = await installer.install('validating', [{ objectSelector: { matchLabels: labels } }]);
    const answer = await post(labels, { data: { a: '1' } });
    expect([answer.code, dataOf(answer)]).toEqual([201, { a: '1', b: '2' }]);
    expect(webhooks.reviews(later.paths[0]!)).toMatchObject([{ object: { data: { a: '1', b: '2' } } }]);
  });

  it('are made one after the other, by name of the configuration and then in its order', async () => {
    const append =
      (letter: string): Answer =>
      ({ object }) => {
        const { data } = object as { readonly data: Record<string, string> };
        return patched([{ op: 'replace', path: '/data/a', value: `${data['a']}${letter}` }]);
      };
    const second = await mutating([{ answer: append('2') }, { answer: append('3') }], 'm');
    const objectSelector = { matchLabels: second.labels };
    await mutating([{ objectSelector, answer: append('4') }], 'n');
    await mutating([{ objectSelector, answer: append('1') }], 'l');
    expect(dataOf(await post(second.labels, { data: { a: '0' } }))).toEqual({ a: '01234' });
  });

  it('reinvocationPolicy IfNeeded calls a webhook again after changes by later ones only', async () => {
    let serial = 0;
    const once =
      (key: string): Answer =>
      ({ object }) =>
        (object as { readonly data: Record<string, string> }).data[key] === undefined
          ? patched([add(key, String(serial++))])
          : { allowed: true };
    const { labels, paths } = await mutating([
      { reinvocationPolicy: 'IfNeeded', answer: once('a') },
      { reinvocationPolicy: 'Never', answer: once('b') },
      { reinvocationPolicy: 'IfNeeded', answer: once('c') },
      { reinvocationPolicy: 'IfNeeded' },
    ]);
    expect(dataOf(await post(labels, { data: { x: 'x' } }))).toEqual({ x: 'x', a: '0', b: '1', c: '2' });
    expect(paths.map((path) => webhooks.at(path).length)).toEqual([2, 1, 1, 1]);
  });

  it('are defaulted and validated like a submitted object', async () => {
    const rules = [{ ...configMapRule, resources: ['pods'] }];
    const container = { name: 'added', image: 'i' };
    const { labels, paths } = await mutating([
      { rules, answer: () => patched([{ op: 'add', path: '/spec/containers/-', value: container }]) },
    ]);
    const pods = '/api/v1/namespaces/default/pods?dryRun=All';
    const pod = { metadata: { name: newName(), labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const created = await admin.post(pods, pod);
    expect(created.body).toMatchObject({
      spec: { containers: [{ name: 'c' }, { name: 'added', imagePullPolicy: 'Always' }] },
    });
    webhooks.on(paths[0]!, () => patched([{ op: 'remove', path: '/spec/containers' }]));
    expect((await admin.post(pods, pod)).code).toBe(422);
  });

  it.each<[string, unknown, number, string | RegExp]>([
    ['that remove the name', [{ op: 'remove', path: '/metadata/name' }], 422, /name or generateName is required$/],
    [
      'that change the namespace',
      [{ op: 'replace', path: '/metadata/namespace', value: 'x' }],
      400,
      /^the namespace of/,
    ],
    [
      'that change the kind',
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      400,
      /cannot be handled as a ConfigMap/,
    ],
    [
      'that do not apply',
      [{ op: 'remove', path: '/none' }],
      500,
      /^Internal error occurred: the patch of admission webhook/,
    ],
    ['that are no JSON', '{[', 500, /is not JSON$/],
    ['that are no list', '{}', 500, /cannot be applied/],
    ['of a wrong type', [{ op: 'add', path: '/data', value: 5 }], 500, /^Internal error occurred: /],
  ])('%s are refused', async (_title, operations, code, message) => {
    const { labels } = await mutating([{ answer: () => patched(operations) }]);
    const answer = await post(labels);
    expect([answer.code, messageOf(answer)]).toEqual([code, expect.stringMatching(message)]);
  });

  it('of metadata.uid are ignored', async () => {
    const { labels } = await mutating([
      { answer: () => patched([{ op: 'replace', path: '/metadata/uid', value: 'mine' }]) },
    ]);
    const { code, body } = await post(labels);
    expect([code, (body as { readonly metadata: { readonly uid: string } }).metadata.uid]).toEqual([
      201,
      expect.not.stringMatching('mine'),
    ]);
  });

  it('of a deletion are refused (500)', async () => {
    const rules = [{ ...configMapRule, operations: ['DELETE'] }];
    const { labels } = await mutating([{ rules, answer: () => patched([{ op: 'add', path: '/data', value: {} }]) }]);
    const name = newName();
    await admin.post(configMaps, { metadata: { name, labels } });
    const answer = await admin.delete(`${configMaps}/${name}`);
    expect([answer.code, messageOf(answer)]).toEqual([500, expect.stringContaining('attempted to modify the object')]);
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
  });
});

describe('answers that are no AdmissionResponse', () => {
  it.each<[string, 'mutating' | 'validating', (uid: string) => object, string]>([
    ['another uid', 'validating', () => ({ response: { uid: 'x', allowed: true } }), 'expected response.uid='],
    ['no response', 'validating', () => ({}), 'webhook response was absent'],
    [
      'another version',
      'validating',
      (uid) => ({ apiVersion: 'admission.k8s.io/v1beta1', response: { uid, allowed: true } }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview',
    ],
    ['a text as allowed', 'validating', (uid) => ({ response: { uid, allowed: 'true' } }), 'allowed must be a boolean'],
    [
      'a patch of a validating webhook',
      'validating',
      (uid) => ({ response: { uid, ...patched([]) } }),
      'validating webhook may not return response.patch',
    ],
    [
      'a patchType of a validating webhook',
      'validating',
      (uid) => ({ response: { uid, allowed: true, patchType: 'JSONPatch' } }),
      'validating webhook may not return response.patchType',
    ],
    [
      'a patch without a type',
      'mutating',
      (uid) => ({ response: { uid, ...patched([]), patchType: undefined } }),
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'a type without a patch',
      'mutating',
      (uid) => ({ response: { uid, allowed: true, patchType: 'JSONPatch' } }),
      'webhook returned response.patchType but not response.patch',
    ],
    [
      'another type of patch',
      'mutating',
      (uid) => ({ response: { uid, ...patched([]), patchType: 'MergePatch' } }),
      'unsupported patch type',
    ],
  ])('%s', async (_title, kind, review, problem) => {
    const { labels, name, paths } = await installer.install(kind, [{}]);
    webhooks.onRequest(paths[0]!, (response, received) => {
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...review(received.request.uid) };
      response.writeHead(200).end(JSON.stringify(body));
    });
    const answer = await post(labels);
    const failed = `failed calling webhook "h0.${name}.test": received invalid webhook response: `;
    expect([answer.code, messageOf(answer)]).toEqual([
      500,
      expect.stringContaining(`Internal error occurred: ${failed}`),
    ]);
    expect(messageOf(answer)).toContain(problem);
    expect(answer.body).toMatchObject({
      reason: 'InternalError',
      details: { causes: [{ message: expect.stringContaining(failed) as string }] },
    });
  });

  it('a v1beta1 answer needs neither uid nor kind', async () => {
    const { labels, paths } = await mutating([{ admissionReviewVersions: ['v1beta1'] }]);
    const { patch } = patched([{ op: 'add', path: '/data', value: { a: 'b' } }]);
    webhooks.onRequest(paths[0]!, (response) => {
      response.writeHead(200).end(JSON.stringify({ response: { allowed: true, patch } }));
    });
    expect(dataOf(await post(labels))).toEqual({ a: 'b' });
  });
});

describe('calls', () => {
  it('a webhook that cannot be reached refuses the request, or not with failurePolicy Ignore', async () => {
    const clientConfig = { url: 'https://localhost:1/x', caBundle: webhooks.caBundle };
    const { labels, name } = await validating({ clientConfig });
    const url = 'https://localhost:1/x?timeout=10s';
    expect(messageOf(await post(labels))).toMatch(
      new RegExp(
        `^Internal error occurred: failed calling webhook "h0.${name}.test": failed to call webhook: Post "${url.replace('?', '\\?')}": `,
      ),
    );
    const ignored = await validating({ clientConfig, failurePolicy: 'Ignore' });
    expect((await post(ignored.labels)).code).toBe(201);
  });

  it('timeoutSeconds ends a call that hangs', async () => {
    const { labels, path } = await validating({ timeoutSeconds: 1 });
    webhooks.onRequest(path, () => undefined);
    const answer = await post(labels);
    expect([answer.code, messageOf(answer)]).toEqual([
      500,
      expect.stringContaining('?timeout=1s": context deadline exceeded'),
    ]);
  });

  it.each([
    ['signed by another CA', () => ({ url: `https://localhost:${webhooks.port}/` }), 'unknown authority'],
    [
      'for other names',
      () => ({ url: `https://127.0.0.1:${webhooks.port}/`, caBundle: webhooks.caBundle }),
      '127.0.0.1',
    ],
  ])('a certificate %s is refused', async (_title, clientConfig, problem) => {
    const { labels } = await validating({ clientConfig: clientConfig() });
    const before = webhooks.received.length;
    expect(messageOf(await post(labels))).toContain(problem);
    expect(webhooks.received).toHaveLength(before);
  });

  it('a Service is called at its address, by the name of the Service', async () => {
    const service = { metadata: { name: 'hook' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
    expect((await admin.post('/api/v1/namespaces/default/services', service)).code).toBe(201);
    const reference = { namespace: 'default', name: 'hook', path: '/by-service', port: webhooks.port };
    const { labels, name } = await validating({ clientConfig: { service: reference, caBundle: webhooks.caBundle } });
    expect((await post(labels)).code).toBe(201);
    expect(webhooks.at('/by-service')).toMatchObject([{ headers: { host: `hook.default.svc:${webhooks.port}` } }]);
    await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
    const missing = await validating({
      clientConfig: { service: { ...reference, name: 'none' }, caBundle: webhooks.caBundle },
    });
    expect(messageOf(await post(missing.labels))).toContain('failed to call webhook: service "none" not found');
  });

  it('redirects are not followed', async () => {
    const { labels, path } = await validating({});
    webhooks.onRequest(path, (response) => void response.writeHead(307, { Location: '/elsewhere' }).end());
    expect((await post(labels)).code).toBe(500);
    expect(webhooks.at('/elsewhere')).toEqual([]);
  });

  it('connections are kept open', async () => {
    const { labels, path } = await validating({});
    for (let call = 0; call < 5; call++) expect((await post(labels)).code).toBe(201);
    expect(new Set(webhooks.at(path).map(({ socket }) => socket)).size).toBe(1);
  });

  it('validating webhooks are called at the same time', async () => {
    const { labels, paths } = await installer.install('validating', [{}, {}]);
    const waiting: (() => void)[] = [];
    for (const path of paths) {
      webhooks.onRequest(path, (response, review) => {
        waiting.push(() => respond(response, review, { allowed: true }));
        // Both have received their review before one answers.
        if (waiting.length === 2) waiting.forEach((answer) => answer());
      });
    }
    expect((await post(labels)).code).toBe(201);
  });

  it('a webhook may write to the server while it is asked', async () => {
    const { labels, path } = await validating({});
    const name = newName();
    webhooks.onRequest(path, (response, review) => {
      void admin
        .post(configMaps, { metadata: { name } })
        .then(({ code }) => respond(response, review, { allowed: code === 201 }));
    });
    expect((await post(labels)).code).toBe(201);
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
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
