import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpClient } from '../harness/http-client.js';
import { eventually } from '../harness/eventually.js';
import { rule, startRbacServer } from '../harness/rbac-users.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// A user without rights on policies tries to store what a policy forbids, by every way that leads to the object.

const registration = '/apis/admissionregistration.k8s.io/v1';
const namespace = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const coreEvents = `${namespace}/events`;
const events = '/apis/events.k8s.io/v1/namespaces/default/events';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const betaWidgets = '/apis/example.com/v1beta1/namespaces/default/widgets';
const apply = 'application/apply-patch+yaml';

const evil = { evil: 'yes' };
const object = (name: string, labels: object = {}, rest: object = {}) => ({ metadata: { name, labels }, ...rest });
const typed = (apiVersion: string, kind: string, name: string, labels: object, rest: object = {}) => ({
  apiVersion,
  kind,
  ...object(name, labels, rest),
});
const configMap = (name: string, labels: object) => typed('v1', 'ConfigMap', name, labels);
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

let server: TestServer;
let admin: HttpClient;
let user: HttpClient;

/** Creates a policy with a binding that refuses, and waits until it is in force. */
async function enforce(name: string, spec: object, binding: object = {}): Promise<void> {
  const policy = { metadata: { name }, spec };
  expect(await admin.post(`${registration}/validatingadmissionpolicies`, policy)).toMatchObject({ code: 201 });
  const bound = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'], ...binding } };
  expect(await admin.post(`${registration}/validatingadmissionpolicybindings`, bound)).toMatchObject({ code: 201 });
  await sentinel(name);
}

/** Waits until a policy that was created after `name` is in force, since caches apply changes in order. */
async function sentinel(name: string): Promise<void> {
  const label = `sentinel-${name}`;
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
    objectSelector: { matchLabels: { s: label } },
  };
  const spec = { matchConstraints, validations: [{ expression: 'false' }] };
  await admin.post(`${registration}/validatingadmissionpolicies`, { metadata: { name: label }, spec });
  const bound = { policyName: label, validationActions: ['Deny'] };
  await admin.post(`${registration}/validatingadmissionpolicybindings`, { metadata: { name: label }, spec: bound });
  const probe = () => admin.post(`${namespace}/secrets?dryRun=All`, object('s', { s: label }));
  await eventually('policies are in force', async () => (await probe()).code === 422);
}

beforeAll(async () => {
  const started = await startRbacServer();
  ({ server, admin } = started);
  await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition);
  await eventually('widgets are served', async () => (await admin.get(widgets)).code === 200);
  for (const name of ['kept', 'also']) await admin.post(`${namespace}/configmaps`, object(name, { guarded: 'yes' }));
  await admin.post(`${namespace}/pods`, object('pod', { guarded: 'yes' }, { spec: podSpec }));
  await admin.post(`${apps}/deployments`, deployment);
  await admin.post(widgets, object('widget', {}, { spec: { size: 1 } }));
  const anyResource = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
  await enforce('no-evil', {
    matchConstraints: {
      resourceRules: [
        {
          ...anyResource,
          operations: ['CREATE', 'UPDATE'],
          apiGroups: ['', 'coordination.k8s.io', 'policy', 'authorization.k8s.io'],
        },
      ],
    },
    validations: [
      { expression: "!has(object.metadata.labels) || !('evil' in object.metadata.labels)", message: 'no evil' },
    ],
  });
  const matchConstraints = {
    resourceRules: [{ ...anyResource, apiGroups: ['', 'example.com'], operations: ['DELETE'] }],
    objectSelector: { matchLabels: { guarded: 'yes' } },
  };
  await enforce('keep', {
    matchConstraints,
    validations: [{ expression: 'oldObject == null', message: 'it is kept' }],
  });
  await enforce('small', {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['example.com'],
          apiVersions: ['v1beta1'],
          operations: ['*'],
          resources: ['widgets', 'widgets/*'],
        },
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['*'],
          resources: ['deployments', 'deployments/scale'],
        },
      ],
    },
    validations: [
      {
        expression: "object.kind != 'Widget' || (object.apiVersion == 'example.com/v1beta1' && object.spec.size < 5)",
        message: 'the widget is too large',
      },
      {
        expression: "!(object.kind in ['Deployment', 'Scale']) || object.spec.replicas < 5",
        message: 'too many replicas',
      },
    ],
  });
  await enforce('quiet', {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['events'] }],
    },
    validations: [
      {
        expression: "object.kind == 'Event' && object.apiVersion == 'v1' && object.message != 'loud'",
        message: 'too loud',
      },
    ],
  });
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection'];
  user = await started.users.with(
    ...['', 'coordination.k8s.io', 'apps', 'events.k8s.io', 'example.com', 'policy'].map((group) =>
      rule(group, '*', ...verbs),
    ),
  );
});
afterAll(() => server.stop());

const widgetDefinition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: ['v1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
};
const deployment = object(
  'deployment',
  {},
  {
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: podSpec },
    },
  },
);

const lease = (labels: object) => typed('coordination.k8s.io/v1', 'Lease', 'lease', labels);
const event = (message: string) => ({
  metadata: { name: 'event' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'pod' },
  message,
});
const newEvent = (note: string) => ({
  metadata: { name: 'event' },
  regarding: { kind: 'Pod', namespace: 'default', name: 'pod' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Act',
  reason: 'Because',
  type: 'Normal',
  note,
});
const scale = (replicas: number) => ({ spec: { replicas } });

it.each<[string, (client: HttpClient) => ReturnType<HttpClient['get']>, string]>([
  ['create', (client) => client.post(`${namespace}/configmaps`, configMap('new', evil)), 'no evil'],
  [
    'create with a dry run',
    (client) => client.post(`${namespace}/configmaps?dryRun=All`, configMap('new', evil)),
    'no evil',
  ],
  [
    'create with a generated name',
    (client) => client.post(`${namespace}/configmaps`, { metadata: { generateName: 'n-', labels: evil } }),
    'no evil',
  ],
  [
    'apply that creates',
    (client) => client.patch(`${namespace}/configmaps/new?fieldManager=m`, configMap('new', evil), apply),
    'no evil',
  ],
  ['update that creates', (client) => client.put(`${leases}/lease`, lease(evil)), 'no evil'],
  [
    'apply that updates',
    (client) => client.patch(`${namespace}/configmaps/kept?fieldManager=m&force=true`, configMap('kept', evil), apply),
    'no evil',
  ],
  ['merge patch', (client) => client.patch(`${namespace}/configmaps/kept`, { metadata: { labels: evil } }), 'no evil'],
  [
    'merge patch with a dry run',
    (client) => client.patch(`${namespace}/configmaps/kept?dryRun=All`, { metadata: { labels: evil } }),
    'no evil',
  ],
  [
    'strategic merge patch',
    (client) => client.patch(`${namespace}/configmaps/kept`, { metadata: { labels: evil } }, 'strategic-merge'),
    'no evil',
  ],
  [
    'JSON patch',
    (client) =>
      client.patch(
        `${namespace}/configmaps/kept`,
        [{ op: 'add', path: '/metadata/labels/evil', value: 'yes' }],
        'json',
      ),
    'no evil',
  ],
  ['PUT', (client) => client.put(`${namespace}/configmaps/kept`, configMap('kept', evil)), 'no evil'],
  [
    'the status subresource',
    (client) => client.patch(`${namespace}/pods/pod/status`, { metadata: { labels: evil } }),
    'no evil',
  ],
  [
    'the body of an eviction',
    (client) => client.post(`${namespace}/pods/pod/eviction`, object('pod', evil)),
    'no evil',
  ],
  [
    'the body of a binding',
    (client) =>
      client.post(`${namespace}/pods/pod/binding`, object('pod', evil, { target: { kind: 'Node', name: 'n' } })),
    'no evil',
  ],
  ['delete', (client) => client.delete(`${namespace}/configmaps/kept`), 'it is kept'],
  ['delete with a dry run', (client) => client.delete(`${namespace}/configmaps/kept?dryRun=All`), 'it is kept'],
  [
    'delete without a grace period',
    (client) => client.delete(`${namespace}/pods/pod?gracePeriodSeconds=0`),
    'it is kept',
  ],
  ['deletion of a collection', (client) => client.delete(`${namespace}/configmaps`), 'it is kept'],
  [
    'deletion of a selected collection',
    (client) => client.delete(`${namespace}/configmaps?fieldSelector=metadata.name=kept`),
    'it is kept',
  ],
  [
    'another served version of a custom kind',
    (client) => client.post(widgets, object('w', {}, { spec: { size: 5 } })),
    'the widget is too large',
  ],
  [
    'the version of the rule',
    (client) => client.post(betaWidgets, object('w', {}, { spec: { size: 5 } })),
    'the widget is too large',
  ],
  [
    'a patch of another served version',
    (client) => client.patch(`${widgets}/widget`, { spec: { size: 5 } }),
    'the widget is too large',
  ],
  [
    'scale of a Deployment',
    (client) => client.patch(`${apps}/deployments/deployment/scale`, scale(5)),
    'too many replicas',
  ],
  ['scale of a custom kind', (client) => client.patch(`${widgets}/widget/scale`, scale(5)), 'too many replicas'],
  ['the group of the rule', (client) => client.post(coreEvents, event('loud')), 'too loud'],
  ['another group of the same objects', (client) => client.post(events, newEvent('loud')), 'too loud'],
])('%s does not evade a policy', async (_way, write, message) => {
  const { code, body } = await write(user);
  expect(body).toMatchObject({ kind: 'Status', reason: 'Invalid', code: 422 });
  expect([code, (body as { message: string }).message]).toEqual([422, expect.stringContaining(message)]);
});

it('refused writes store nothing', async () => {
  const { body } = await admin.get(`${namespace}/configmaps?labelSelector=evil`);
  expect((body as { items: object[] }).items).toEqual([]);
  expect((await admin.get(`${namespace}/configmaps/kept`)).body).toMatchObject({
    metadata: { labels: { guarded: 'yes' } },
  });
  expect((await admin.get(`${leases}/lease`)).code).toBe(404);
  expect((await admin.get(`${widgets}/widget`)).body).toMatchObject({ spec: { size: 1 } });
  expect((await admin.get(`${apps}/deployments/deployment`)).body).toMatchObject({ spec: { replicas: 1 } });
});

it('writes that the policies allow are stored', async () => {
  expect(await user.post(`${namespace}/configmaps`, configMap('good', {}))).toMatchObject({ code: 201 });
  expect(await user.put(`${leases}/lease`, lease({}))).toMatchObject({ code: 201 });
  expect(await user.patch(`${widgets}/widget/scale`, scale(4))).toMatchObject({ code: 200 });
  expect(await user.post(events, newEvent('soft'))).toMatchObject({ code: 201 });
  expect(await user.delete(`${namespace}/configmaps/good`)).toMatchObject({ code: 200 });
});

it('names of inherited properties are ordinary keys to expressions', async () => {
  await enforce('plain', {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: { plain: 'yes' } },
    },
    validations: [
      { expression: "!('constructor' in object.data)", messageExpression: 'string(object.data.constructor)' },
      { expression: '!has(object.data.toString) && !has(object.__proto__)' },
    ],
  });
  const post = (data: object) => admin.post(`${namespace}/configmaps`, object('p', { plain: 'yes' }, { data }));
  expect(await post({ constructor: 'polluted' })).toMatchObject({
    code: 422,
    body: { message: expect.stringContaining('denied request: polluted') as string },
  });
  expect((await post({ a: 'b' })).code).toBe(201);
});

it('costly policies do not keep other requests waiting', async () => {
  const list = '[1,2,3,4,5,6,7,8,9,10]';
  const costly = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, true))))`;
  const names = Array.from({ length: 150 }, (_, index) => `v${index}`);
  await enforce('costly', {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: { costly: 'yes' } },
    },
    variables: names.map((name, index) => ({
      name,
      expression: index === 0 ? costly : `variables.v${index - 1} && ${costly}`,
    })),
    validations: Array.from({ length: 20 }, () => ({ expression: 'variables.v149' })),
  });
  let isAnswered = false;
  const write = admin
    .post(`${namespace}/configmaps?dryRun=All`, configMap('c', { costly: 'yes' }))
    .finally(() => (isAnswered = true));
  let answeredMeanwhile = 0;
  while (!isAnswered) {
    expect((await user.get(`${namespace}/configmaps/kept`)).code).toBe(200);
    if (!isAnswered) answeredMeanwhile++;
  }
  expect([201, 422]).toContain((await write).code);
  expect(answeredMeanwhile).toBeGreaterThan(0);
});

it('an administrator can delete a policy that refuses everything', async () => {
  const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
  const policy = `${registration}/validatingadmissionpolicies/lockdown`;
  const spec = { matchConstraints: { resourceRules: [everything] }, validations: [{ expression: 'false' }] };
  await admin.post(`${registration}/validatingadmissionpolicies`, { metadata: { name: 'lockdown' }, spec });
  const bound = { policyName: 'lockdown', validationActions: ['Deny'] };
  await admin.post(`${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'lockdown' },
    spec: bound,
  });
  const create = () => admin.post(`${namespace}/configmaps?dryRun=All`, configMap('any', {}));
  await eventually('everything is refused', async () => (await create()).code === 422);
  const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  expect(await admin.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)).toMatchObject({
    code: 201,
  });
  expect(await admin.delete(policy)).toMatchObject({ code: 200 });
  await eventually('nothing is refused', async () => (await create()).code === 201);
});

it('a server that starts again enforces its stored policies from the first write', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-policies-'));
  const start = () => startTestServer({ store: 'embedded', naming: 'kubernetes' }, { directory });
  const refuse = (client: HttpClient) => client.post(`${namespace}/configmaps?dryRun=All`, configMap('c', evil));
  try {
    const first = await start();
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'false' }] };
    const bound = { policyName: 'none', validationActions: ['Deny'] };
    await first.admin.post(`${registration}/validatingadmissionpolicies`, { metadata: { name: 'none' }, spec });
    await first.admin.post(`${registration}/validatingadmissionpolicybindings`, {
      metadata: { name: 'none' },
      spec: bound,
    });
    await eventually('the policy is in force', async () => (await refuse(first.admin)).code === 422);
    await first.stop();
    const second = await start();
    const { code } = await refuse(second.admin);
    await second.stop();
    expect(code).toBe(422);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
