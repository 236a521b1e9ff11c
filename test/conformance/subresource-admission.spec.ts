import {
  type AdmissionWebhooks,
  patched,
  registration,
  type WebhookInstaller,
  type Review,
} from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

// Bodies that are not stored pass each webhook once: mutating ones first, then validating ones with what the handler uses.

const core = '/api/v1/namespaces/default';
const podSpec = { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'default' };
const resources = {
  '': ['pods/binding', 'pods/eviction', 'pods/exec', 'bindings', 'serviceaccounts/token'],
  'authorization.k8s.io': ['selfsubjectaccessreviews'],
};

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
let [mutating, validating] = ['', ''];

beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
  await until(admin, `${core}/serviceaccounts`, 'default', (account) => account !== undefined);
  for (const name of ['bound', 'older', 'evicted', 'kept']) {
    expect((await admin.post(`${core}/pods`, { metadata: { name }, spec: podSpec })).code).toBe(201);
  }
  const rules = Object.entries(resources).map(([group, list]) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: ['*'],
    resources: list,
  }));
  const given = [{ rules, objectSelector: {} }];
  [mutating = ''] = (await installer.install('mutating', given)).paths;
  [validating = ''] = (await installer.install('validating', given)).paths;
});
afterAll(() => world.stop());
beforeEach(() => {
  webhooks.on(mutating, () => ({ allowed: true }));
  webhooks.on(validating, () => ({ allowed: true }));
  webhooks.received.splice(0);
});

/** Ignores requests of reconcilers. */
const reviews = (path: string): readonly Review['request'][] =>
  webhooks.reviews(path).filter(({ userInfo }) => userInfo?.username?.startsWith('system:') !== true);

const add = (path: string, value: unknown) => patched([{ op: 'add', path, value }]);

it.each<[string, string, object, string, object]>([
  [
    'pods/binding',
    `${core}/pods/bound/binding`,
    { target: { kind: 'Node', name: 'n' } },
    '/target/name',
    { target: { name: 'x' } },
  ],
  [
    'bindings',
    `${core}/bindings`,
    { metadata: { name: 'older' }, target: { kind: 'Node', name: 'n' } },
    '/target/name',
    { target: { name: 'x' } },
  ],
  [
    'pods/eviction',
    `${core}/pods/evicted/eviction`,
    { metadata: { name: 'evicted', annotations: { a: 'b' } } },
    '/metadata/annotations/a',
    { metadata: { annotations: { a: 'x' } } },
  ],
  [
    'serviceaccounts/token',
    `${core}/serviceaccounts/default/token`,
    { spec: { audiences: ['a'] } },
    '/spec/audiences/0',
    { spec: { audiences: ['x', 'a'] } },
  ],
  [
    'selfsubjectaccessreviews',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
    '/spec/resourceAttributes/verb',
    { spec: { resourceAttributes: { verb: 'x' } } },
  ],
])(
  'a POST of %s is sent once to each webhook, and the handler gets the mutation',
  async (_what, path, body, at, want) => {
    webhooks.on(mutating, () => add(at, 'x'));
    const answer = await admin.post(path, body);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    expect(reviews(mutating)).toHaveLength(1);
    expect(reviews(validating)).toMatchObject([{ operation: 'CREATE', object: want }]);
  },
);

it('mutations of bindings, evictions and token requests take effect', async () => {
  for (const name of ['bound', 'older']) {
    expect((await admin.get(`${core}/pods/${name}`)).body.spec.nodeName).toBe('x');
  }
  webhooks.on(mutating, () => add('/deleteOptions', { dryRun: ['All'] }));
  expect((await admin.post(`${core}/pods/kept/eviction`, { metadata: { name: 'kept' } })).code).toBe(201);
  expect((await admin.get(`${core}/pods/kept`)).code).toBe(200);
  webhooks.on(mutating, () => add('/spec/expirationSeconds', 1200));
  const { body } = await admin.post(`${core}/serviceaccounts/default/token`, { spec: {} });
  expect(body.spec.expirationSeconds).toBe(1200);
});

it.each([
  ['pods/binding', `${core}/pods/kept/binding`, { target: { kind: 'Node', name: 'n' } }],
  ['bindings', `${core}/bindings`, { metadata: { name: 'kept' }, target: { kind: 'Node', name: 'n' } }],
  ['pods/eviction', `${core}/pods/kept/eviction`, { metadata: { name: 'kept' } }],
  ['serviceaccounts/token', `${core}/serviceaccounts/default/token`, { spec: {} }],
  ['pods/exec', `${core}/pods/kept/exec?command=ls`, {}],
])('a denial of %s has no effect on the object', async (_what, path, body) => {
  webhooks.on(validating, () => ({ allowed: false, status: { code: 403, message: 'no' } }));
  const answer = await admin.post(path, body);
  expect([answer.code, answer.body.message]).toEqual([403, expect.stringMatching(/denied the request: no$/)]);
  expect(reviews(validating)).toHaveLength(1);
  const { metadata, spec } = (await admin.get(`${core}/pods/kept`)).body;
  expect([metadata.deletionTimestamp, spec.nodeName]).toEqual([undefined, undefined]);
});

it.each([
  ['exec', 'exec?command=ls&command=-l&container=c&tty=true', { command: ['ls', '-l'], container: 'c', tty: true }],
  ['portforward', 'portforward?ports=80', { ports: [80] }],
  ['proxy', 'proxy/metrics/?path=/other', { path: '/metrics/' }],
])('webhooks and policies get the options of pods/%s as the object', async (subresource, path, want) => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: [`pods/${subresource}`] };
  const given = [{ rules: [rule], objectSelector: {} }];
  const labelled = { rules: [rule], objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } };
  const { paths } = await installer.install('validating', [...given, labelled]);
  await admin.post(`${core}/pods/kept/${path}`, {});
  const kind = subresource === 'exec' ? 'PodExecOptions' : expect.any(String);
  const object = { kind, apiVersion: 'v1', ...want };
  expect(reviews(paths[0]!).map((review) => review.object)).toEqual([object]);
  expect(reviews(paths[1]!)).toEqual([]);
});

it('a policy can refuse commands of pods/exec', async () => {
  const name = 'no-shells';
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] }];
  const validations = [{ expression: "!has(object.metadata) && object.command[0] != 'sh'", message: 'no shells' }];
  const policy = { metadata: { name }, spec: { matchConstraints: { resourceRules }, validations } };
  expect((await admin.post(`${registration}/validatingadmissionpolicies`, policy)).code).toBe(201);
  const bound = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } };
  expect((await admin.post(`${registration}/validatingadmissionpolicybindings`, bound)).code).toBe(201);
  const messageOf = async (command: string) =>
    (await admin.post(`${core}/pods/kept/exec?command=${command}`, {})).body.message as string;
  await eventually('the policy is in force', async () => (await messageOf('sh')).includes('denied request: no shells'));
  expect(await messageOf('ls')).toBe('pod kept does not have a host assigned');
  await admin.delete(`${registration}/validatingadmissionpolicies/${name}`);
});

it('a Binding whose target is not valid is refused before validating webhooks (422)', async () => {
  const answer = await admin.post(`${core}/pods/kept/binding`, { target: { kind: 'Pod', name: 'n' } });
  expect(answer.code).toBe(422);
  expect([reviews(mutating).length, reviews(validating).length]).toEqual([1, 0]);
});

it('configurations can be deleted while their webhooks refuse everything', async () => {
  webhooks.on(validating, () => ({ allowed: false }));
  for (const kind of ['mutating', 'validating']) {
    const path = `${registration}/${kind}webhookconfigurations`;
    expect((await admin.delete(path)).code).toBe(200);
  }
});
