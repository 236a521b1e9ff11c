import {
  type AdmissionWebhooks,
  configMapRule,
  patched,
  registration,
  type WebhookInstaller,
  type Answer,
} from '../harness/admission-webhook.js';
import { definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

// Cases of upstream's end-to-end suite for admission webhooks, by their titles.

const core = '/api/v1/namespaces';
const group = 'webhook.example.com';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
});
afterAll(() => world.stop());

let count = 0;

/** Each case has a namespace of its own, whose webhooks select it by a label. */
interface Case {
  readonly namespace: string;
  readonly selected: { readonly namespaceSelector: object; readonly objectSelector: object };
  path(resource: string, name?: string): string;
}

async function newCase(): Promise<Case> {
  const namespace = `webhook-${++count}`;
  await admin.post(core, { metadata: { name: namespace, labels: { case: namespace } } });
  await until(admin, `${core}/${namespace}/serviceaccounts`, 'default', (account) => account !== undefined);
  return {
    namespace,
    selected: { namespaceSelector: { matchLabels: { case: namespace } }, objectSelector: {} },
    path: (resource, name) => `${core}/${namespace}/${resource}${name === undefined ? '' : `/${name}`}`,
  };
}

/** Creates a configuration with one webhook, which answers as given. */
async function install(kind: 'mutating' | 'validating', fields: object, answer: Answer): Promise<string> {
  const { name, paths } = await installer.install(kind, [fields]);
  webhooks.on(paths[0]!, answer);
  return name;
}

const rule = (resource: string, operations: readonly string[], apiGroup = '') => ({
  apiGroups: [apiGroup],
  apiVersions: ['*'],
  operations,
  resources: [resource],
});
const pod = (name: string, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});
const refusing = (message: string): object => ({ allowed: false, status: { message } });
const stages: Answer = ({ object }) => {
  const { data = {} } = object as { data?: Record<string, string> };
  const add = (key: string) => patched([{ op: 'add', path: `/data/${key}`, value: 'yes' }]);
  if (data['mutation-start'] !== 'yes') return { allowed: true };
  return data['mutation-stage-1'] === 'yes' ? add('mutation-stage-2') : add('mutation-stage-1');
};

const uncheckedObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Defines a kind with the versions v1 (stored) and v2. */
async function define(schema: object = { type: 'object', properties: { data: uncheckedObject } }) {
  const plural = `things${++count}`;
  const versions = (storage: string) =>
    ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === storage,
      schema: { openAPIV3Schema: schema },
    }));
  const names = { plural, kind: `Thing${count}` };
  const spec = { group, scope: 'Namespaced', names, versions: versions('v1') };
  const name = `${plural}.${group}`;
  const { code, text } = await admin.post(definitions, { metadata: { name }, spec });
  if (code !== 201) throw new Error(text);
  await eventually('the kind is served', async () => (await admin.get(`/apis/${group}/v1/${plural}`)).code === 200);
  const path = (namespace: string, object?: string) =>
    `/apis/${group}/v1/namespaces/${namespace}/${plural}${object === undefined ? '' : `/${object}`}`;
  const thing = (object: string, data: object) => ({
    apiVersion: `${group}/v1`,
    kind: names.kind,
    metadata: { name: object },
    data,
  });
  return { name, plural, path, thing, versions };
}

describe('AdmissionWebhook', () => {
  it('should include webhook resources in discovery documents', async () => {
    const groups = (await admin.get('/apis')).body.groups as { name: string; versions: { version: string }[] }[];
    const found = groups.find(({ name }) => name === 'admissionregistration.k8s.io');
    expect(found?.versions.map(({ version }) => version)).toContain('v1');
    expect((await admin.get('/apis/admissionregistration.k8s.io')).body.versions).toContainEqual({
      groupVersion: 'admissionregistration.k8s.io/v1',
      version: 'v1',
    });
    const { body } = await admin.get(registration);
    const names = (body.resources as { name: string }[]).map(({ name }) => name);
    expect([body.groupVersion, names]).toEqual([
      'admissionregistration.k8s.io/v1',
      expect.arrayContaining(['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']),
    ]);
  });

  it('should be able to deny pod and configmap creation', async () => {
    const { selected, path } = await newCase();
    await install('validating', { ...selected, rules: [rule('pods', ['CREATE'])], timeoutSeconds: 1 }, ({ object }) => {
      const { labels = {} } = (object as { metadata: { labels?: Record<string, string> } }).metadata;
      return labels['disallow'] === 'yes' ? refusing('the pod contains unwanted label') : { allowed: true };
    });
    const rules = [rule('configmaps', ['CREATE', 'UPDATE', 'DELETE'])];
    await install('validating', { ...selected, rules }, ({ object, oldObject }) => {
      const { data = {} } = (object ?? oldObject) as { data?: Record<string, string> };
      return data['bad'] === 'yes' ? refusing('the configmap contains unwanted key and value') : { allowed: true };
    });
    const deniedPod = await admin.post(path('pods'), pod('a', { disallow: 'yes' }));
    expect([deniedPod.code, deniedPod.body.message]).toEqual([
      400,
      expect.stringMatching(
        /^admission webhook "h0\.c-\d+\.test" denied the request: the pod contains unwanted label$/,
      ),
    ]);
    const bad = { metadata: { name: 'c' }, data: { bad: 'yes' } };
    expect((await admin.post(path('configmaps'), bad)).body.message).toContain('unwanted key and value');
    expect((await admin.post(path('configmaps'), { metadata: { name: 'c' } })).code).toBe(201);
    expect((await admin.put(path('configmaps', 'c'), bad)).body.message).toContain('unwanted key and value');
    expect((await admin.patch(path('configmaps', 'c'), { data: { bad: 'yes' } })).body.message).toContain('unwanted');
    const skipped = await newCase();
    expect((await admin.post(skipped.path('configmaps'), bad)).code).toBe(201);
  });

  it('should be able to deny attaching pod', async () => {
    const { selected, path } = await newCase();
    await install('validating', { ...selected, rules: [rule('pods/attach', ['CONNECT'])] }, ({ name }) =>
      refusing(`attaching to pod '${name}' is not allowed`),
    );
    await admin.post(path('pods'), pod('attached'));
    const { code, body } = await admin.post(`${path('pods', 'attached')}/attach?container=c&stdout=true`, undefined);
    expect([code, body.message]).toEqual([400, expect.stringContaining("attaching to pod 'attached' is not allowed")]);
  });

  it('should be able to deny custom resource creation, update and deletion', async () => {
    const { selected, namespace } = await newCase();
    const { plural, path, thing } = await define();
    const rules = [rule(plural, ['CREATE', 'UPDATE', 'DELETE'], group)];
    await install('validating', { ...selected, rules }, ({ operation, object, oldObject }) => {
      const { data } = (operation === 'DELETE' ? oldObject : object) as { data: Record<string, string> };
      const isDenied = data['bad'] === operation || data['bad'] === 'yes';
      return isDenied ? refusing('the custom resource contains unwanted data') : { allowed: true };
    });
    const messageOf = ({ body }: { readonly body: { readonly message?: string } }) => body.message;
    const unwanted = expect.stringContaining('the custom resource contains unwanted data') as string;
    expect(messageOf(await admin.post(path(namespace), thing('a', { bad: 'yes' })))).toEqual(unwanted);
    expect((await admin.post(path(namespace), thing('b', { bad: 'DELETE' }))).code).toBe(201);
    expect(messageOf(await admin.patch(path(namespace, 'b'), { data: { bad: 'yes' } }))).toEqual(unwanted);
    expect(messageOf(await admin.delete(path(namespace, 'b')))).toEqual(unwanted);
    expect((await admin.patch(path(namespace, 'b'), { data: { bad: 'no' } })).code).toBe(200);
    expect((await admin.delete(path(namespace, 'b'))).code).toBe(200);
  });

  it('should unconditionally reject operations on fail closed webhook', async () => {
    const { selected, path } = await newCase();
    const clientConfig = { url: 'https://localhost:1/' };
    await installer.install('validating', [{ ...selected, clientConfig, failurePolicy: 'Fail' }]);
    const { code, body } = await admin.post(path('configmaps'), { metadata: { name: 'a' } });
    expect([code, body.reason, body.message]).toEqual([
      500,
      'InternalError',
      expect.stringContaining('failed calling webhook'),
    ]);
  });

  it('should mutate configmap', async () => {
    const { selected, path } = await newCase();
    const { paths } = await installer.install('mutating', [selected, selected]);
    for (const hook of paths) webhooks.on(hook, stages);
    const { body } = await admin.post(path('configmaps'), {
      metadata: { name: 'a' },
      data: { 'mutation-start': 'yes' },
    });
    expect(body.data).toEqual({ 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' });
  });

  it('should mutate pod and apply defaults after mutation', async () => {
    const { selected, path } = await newCase();
    const container = { name: 'added', image: 'i', resources: {} };
    await install('mutating', { ...selected, rules: [rule('pods', ['CREATE'])] }, () =>
      patched([{ op: 'add', path: '/spec/initContainers', value: [container] }]),
    );
    const { body } = await admin.post(path('pods'), pod('a'));
    expect(body.spec.initContainers).toMatchObject([
      { name: 'added', terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
    ]);
  });

  it('should not be able to mutate or prevent deletion of webhook configuration objects', async () => {
    const rules = [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        apiVersions: ['*'],
        operations: ['*'],
        resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
      },
    ];
    const objectSelector = {};
    await install('validating', { rules, objectSelector }, () => refusing('never'));
    await install('mutating', { rules, objectSelector }, () =>
      patched([{ op: 'add', path: '/metadata/labels', value: { changed: 'yes' } }]),
    );
    for (const kind of ['validating', 'mutating']) {
      const path = `${registration}/${kind}webhookconfigurations`;
      const created = await admin.post(path, { metadata: { name: `dummy-${count}` } });
      expect([created.code, created.body.metadata.labels]).toEqual([201, undefined]);
      expect((await admin.delete(`${path}/dummy-${count}`)).code).toBe(200);
    }
  });

  it('should mutate custom resource', async () => {
    const { selected, namespace } = await newCase();
    const { plural, path, thing } = await define();
    const rules = [rule(plural, ['CREATE'], group)];
    const { paths } = await installer.install('mutating', [
      { ...selected, rules },
      { ...selected, rules },
    ]);
    for (const hook of paths) webhooks.on(hook, stages);
    const { body } = await admin.post(path(namespace), thing('a', { 'mutation-start': 'yes' }));
    expect(body.data).toEqual({ 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' });
  });

  it('should deny crd creation', async () => {
    const rules = [rule('customresourcedefinitions', ['CREATE'], 'apiextensions.k8s.io')];
    const objectSelector = { matchLabels: { deny: 'yes' } };
    await install('validating', { rules, objectSelector }, () => refusing('the crd contains unwanted label'));
    const { code, body } = await admin.post(definitions, {
      metadata: { name: `denied.${group}`, labels: { deny: 'yes' } },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'denied', kind: 'Denied' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    expect([code, body.message]).toEqual([400, expect.stringContaining('the crd contains unwanted label')]);
  });

  it('should mutate custom resource with different stored version', async () => {
    const { selected, namespace } = await newCase();
    const { name, plural, path, thing, versions } = await define();
    const rules = [rule(plural, ['CREATE', 'UPDATE'], group)];
    const { paths } = await installer.install('mutating', [
      { ...selected, rules },
      { ...selected, rules },
    ]);
    for (const hook of paths) webhooks.on(hook, stages);
    expect((await admin.post(path(namespace), thing('a', {}))).code).toBe(201);
    await admin.patch(`${definitions}/${name}`, { spec: { versions: versions('v2') } });
    await eventually('v2 is the storage version', async () => {
      const { body } = await admin.get(`${definitions}/${name}`);
      return body.status.storedVersions.includes('v2') && (await admin.get(path(namespace, 'a'))).code === 200;
    });
    const { body } = await admin.patch(path(namespace, 'a'), { data: { 'mutation-start': 'yes' } });
    expect(body.data).toEqual({ 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' });
  });

  it('should mutate custom resource with pruning', async () => {
    const { selected, namespace } = await newCase();
    const text = { type: 'string' };
    const data = { type: 'object', properties: { 'mutation-start': text, 'mutation-stage-1': text } };
    const { plural, path, thing } = await define({ type: 'object', properties: { data } });
    const rules = [rule(plural, ['CREATE'], group)];
    const { paths } = await installer.install('mutating', [
      { ...selected, rules },
      { ...selected, rules },
    ]);
    for (const hook of paths) webhooks.on(hook, stages);
    const { body } = await admin.post(path(namespace), thing('a', { 'mutation-start': 'yes' }));
    expect(body.data).toEqual({ 'mutation-start': 'yes', 'mutation-stage-1': 'yes' });
  });

  it.each([
    ['is shorter than the webhook takes, and its policy is Fail', { timeoutSeconds: 1 }, 500],
    [
      'is shorter than the webhook takes, and its policy is Ignore',
      { timeoutSeconds: 1, failurePolicy: 'Ignore' },
      201,
    ],
    ['is longer than the webhook takes', { timeoutSeconds: 30 }, 201],
    ['is the default of ten seconds', {}, 201],
  ])('should honor timeout: it %s', async (...[, fields, code]) => {
    const { selected, path } = await newCase();
    const { paths } = await installer.install('validating', [{ ...selected, ...fields }]);
    webhooks.onRequest(paths[0]!, (response, { apiVersion, request: { uid } }) => {
      const body = { apiVersion, kind: 'AdmissionReview', response: { uid, allowed: true } };
      setTimeout(() => response.writeHead(200).end(JSON.stringify(body)), 2_500);
    });
    const answer = await admin.post(path('configmaps'), { metadata: { name: 'a' } });
    expect([answer.code, code === 500 ? answer.body.message : '']).toEqual([
      code,
      expect.stringMatching(code === 500 ? /failed calling webhook .*deadline/ : /^$/),
    ]);
  });

  it.each(['validating', 'mutating'] as const)('patching/updating a %s webhook should work', async (kind) => {
    const { selected, path } = await newCase();
    const answer: Answer = () =>
      kind === 'validating' ? refusing('no') : patched([{ op: 'add', path: '/data', value: { by: 'webhook' } }]);
    const name = await install(kind, { ...selected, rules: [{ ...configMapRule, operations: ['CREATE'] }] }, answer);
    const itself = `${registration}/${kind}webhookconfigurations/${name}`;
    const isApplied = async () => {
      const { code, body } = await admin.post(`${path('configmaps')}?dryRun=All`, { metadata: { name: 'a' } });
      return kind === 'validating' ? code === 400 : body.data?.by === 'webhook';
    };
    const setOperations = (operations: string[]) => [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: operations }]; // prettier-ignore
    expect(await isApplied()).toBe(true);
    const { body } = await admin.get(itself);
    body.webhooks[0].rules[0].operations = ['UPDATE'];
    expect((await admin.put(itself, body)).code).toBe(200);
    await installer.settled(kind);
    expect(await isApplied()).toBe(false);
    expect((await admin.patch(itself, setOperations(['CREATE']), 'json')).code).toBe(200);
    await installer.settled(kind);
    expect(await isApplied()).toBe(true);
  });

  it.each(['validating', 'mutating'] as const)('listing %s webhooks should work', async (kind) => {
    const { selected, path } = await newCase();
    const answer: Answer = () =>
      kind === 'validating' ? refusing('no') : patched([{ op: 'add', path: '/data', value: { by: 'webhook' } }]);
    const names: string[] = [];
    for (let copy = 0; copy < 3; copy++) names.push(await install(kind, selected, answer));
    const configurations = `${registration}/${kind}webhookconfigurations`;
    for (const name of names)
      await admin.patch(`${configurations}/${name}`, { metadata: { labels: { listed: kind } } });
    const selection = `${configurations}?labelSelector=listed%3D${kind}`;
    expect((await admin.get(selection)).body.items).toHaveLength(3);
    const applied = await admin.post(path('configmaps'), { metadata: { name: 'a' } });
    expect(kind === 'validating' ? applied.code : applied.body.data?.by).toBe(kind === 'validating' ? 400 : 'webhook');
    expect((await admin.delete(selection)).code).toBe(200);
    await installer.settled(kind);
    const after = await admin.post(path('configmaps'), { metadata: { name: 'b' } });
    expect([after.code, after.body.data]).toEqual([201, undefined]);
  });

  it.each(['validating', 'mutating'] as const)(
    'should be able to create and update %s webhook configurations with match conditions',
    async (kind) => {
      const condition = { name: 'expression-1', expression: "object.metadata.namespace == 'production'" };
      const { name } = await installer.install(kind, [{ matchConditions: [condition] }]);
      const itself = `${registration}/${kind}webhookconfigurations/${name}`;
      const { body } = await admin.get(itself);
      expect(body.webhooks[0].matchConditions).toEqual([condition]);
      const changed = [
        { name: 'expression-1', expression: "object.metadata.namespace == 'production'" },
        { name: 'expression-2', expression: "object.metadata.namespace == 'staging'" },
      ];
      body.webhooks[0].matchConditions = changed;
      expect((await admin.put(itself, body)).code).toBe(200);
      expect((await admin.get(itself)).body.webhooks[0].matchConditions).toEqual(changed);
    },
  );

  it.each(['validating', 'mutating'] as const)(
    'should reject %s webhook configurations with invalid match conditions',
    async (kind) => {
      const { code, body } = await admin.post(`${registration}/${kind}webhookconfigurations`, {
        metadata: { name: 'invalid' },
        webhooks: [
          {
            name: 'invalid.webhook.test',
            clientConfig: webhooks.clientConfig('/invalid'),
            rules: [configMapRule],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            matchConditions: [{ name: 'expression-1', expression: '...bad expression' }],
          },
        ],
      });
      expect([code, body.message]).toEqual([422, expect.stringContaining('compilation failed')]);
    },
  );

  it("should mutate everything except 'skip-me' configmaps", async () => {
    const { selected, path } = await newCase();
    const matchConditions = [{ name: 'skip-me', expression: "object.metadata.name != 'skip-me'" }];
    await install('mutating', { ...selected, matchConditions }, stages);
    const data = { 'mutation-start': 'yes' };
    const skipped = await admin.post(path('configmaps'), { metadata: { name: 'skip-me' }, data });
    expect(skipped.body.data).toEqual(data);
    const mutated = await admin.post(path('configmaps'), { metadata: { name: 'mutate-me' }, data });
    expect(mutated.body.data).toEqual({ ...data, 'mutation-stage-1': 'yes' });
  });
});
