import { patched } from '../harness/admission-webhook.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { InstalledWebhooks } from '../harness/installed-webhooks.js';

// The webhook configurations of Kyverno, with wildcards, and matchConditions that exclude requesters and objects. Its
// controller rewrites the rules whenever a policy changes.

const core = '/api/v1/namespaces';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec };
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const deploymentSpec = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template };
const deployments = '/apis/apps/v1/namespaces/shop/deployments';

let installed: InstalledWebhooks;
beforeAll(async () => {
  installed = await InstalledWebhooks.start('kyverno', 'https');
  await installed.namespace('shop');
  await installed.created(`${core}/shop/pods`, named('pod', { spec: podSpec }));
  await installed.announce();
  await installed.configure();
});
afterAll(() => installed.stop());

/** A client of another user. */
function as(user: string, ...groups: string[]): HttpClient {
  const { keelson } = installed.server;
  const headers = { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) };
  return installed.server.client({ ...keelson.client, headers });
}

it('the configurations are stored as submitted, with defaults', () => installed.expectStored());

it.each<[string, (admin: HttpClient) => Promise<Answer>, string[]]>([
  [
    'a kind of both configurations',
    (admin) => admin.post(deployments, named('web', { spec: deploymentSpec })),
    ['/mutate/ignore CREATE deployments shop/web', '/validate/fail CREATE deployments shop/web'],
  ],
  [
    'a kind of the wildcard only',
    (admin) => admin.post(`${core}/shop/configmaps`, named('web')),
    ['/mutate/ignore CREATE configmaps shop/web'],
  ],
  [
    'a cluster-scoped kind',
    (admin) => admin.post('/apis/scheduling.k8s.io/v1/priorityclasses', named('high', { value: 9 })),
    ['/mutate/ignore CREATE priorityclasses high'],
  ],
  ['a deletion', (admin) => admin.delete(`${deployments}/web`), ['/validate/fail DELETE deployments shop/web']],
  [
    'an ephemeral container',
    (admin) =>
      admin.patch(`${core}/shop/pods/pod/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] },
      }),
    [
      '/mutate/ignore UPDATE pods/ephemeralcontainers shop/pod',
      '/validate/fail UPDATE pods/ephemeralcontainers shop/pod',
    ],
  ],
  [
    'a scale, which no rule names,',
    (admin) =>
      admin
        .post(deployments, named('scaled', { spec: deploymentSpec }))
        .then(() => (installed.webhooks.received.splice(0), undefined))
        .then(() => admin.patch(`${deployments}/scaled/scale`, { spec: { replicas: 2 } })),
    [],
  ],
  ['a write in kube-system', (admin) => admin.post(`${core}/kube-system/pods`, named('p', { spec: podSpec })), []],
  ['a write in the namespace of Kyverno', (admin) => admin.post(`${core}/kyverno/configmaps`, named('c')), []],
  [
    'a write of a node',
    () => as('kubelet-1', 'system:nodes').post(`${core}/shop/pods?dryRun=All`, named('mirror', { spec: podSpec })),
    ['/mutate/ignore CREATE pods shop/mirror'],
  ],
  [
    'a write of Kyverno',
    () =>
      as('system:serviceaccount:kyverno:kyverno-admission-controller').post(
        `${core}/shop/pods?dryRun=All`,
        named('own', { spec: podSpec }),
      ),
    ['/mutate/ignore CREATE pods shop/own'],
  ],
  [
    'a write of another service account',
    () =>
      as('system:serviceaccount:shop:default').post(`${core}/shop/pods?dryRun=All`, named('other', { spec: podSpec })),
    ['/mutate/ignore CREATE pods shop/other', '/validate/fail CREATE pods shop/other'],
  ],
  [
    'a Namespace with the label of a matchCondition',
    (admin) => admin.post(`${core}?dryRun=All`, { metadata: { name: 'red', labels: { color: 'red' } } }),
    ['/gpol/copy-config CREATE namespaces red/red', '/mutate/ignore CREATE namespaces red/red'],
  ],
  [
    'a Namespace without it',
    (admin) => admin.post(`${core}?dryRun=All`, { metadata: { name: 'blue', labels: { color: 'blue' } } }),
    ['/mutate/ignore CREATE namespaces blue/blue'],
  ],
  [
    'a Namespace whose matchCondition cannot be evaluated, with failurePolicy Ignore,',
    (admin) => admin.delete(`${core}/shop?dryRun=All`),
    [],
  ],
])('%s is sent to the webhooks that select it', async (_title, write, want) => {
  const { answer, calls } = await installed.callsOf(() => write(installed.admin));
  expect([answer.code < 300 ? '' : answer.text, calls]).toEqual(['', want]);
});

it('a connection to a Pod is sent as CONNECT, and can be denied', async () => {
  const message = 'exec is blocked';
  installed.webhooks.on('/validate/fail', () => ({ allowed: false, status: { message } }));
  const { answer, calls } = await installed.callsOf(() =>
    installed.admin.post(`${core}/shop/pods/pod/exec?command=ls`, {}),
  );
  expect([answer.code, answer.body.message, calls]).toEqual([
    400,
    `admission webhook "validate.kyverno.svc-fail" denied the request: ${message}`,
    ['/validate/fail CONNECT pods/exec shop/pod'],
  ]);
  expect(installed.webhooks.reviews('/validate/fail')).toMatchObject([
    { object: { kind: 'PodExecOptions', command: ['ls'] }, subResource: 'exec' },
  ]);
  installed.webhooks.on('/validate/fail', () => ({ allowed: true }));
});

it('a mutation is repeated after other mutations, with reinvocationPolicy IfNeeded', async () => {
  installed.webhooks.on('/mutate/ignore', ({ object }) => {
    const { labels = {} } = (object as { readonly metadata: { readonly labels?: object } }).metadata;
    return 'managed' in labels
      ? { allowed: true }
      : patched([{ op: 'add', path: '/metadata/labels', value: { ...labels, managed: 'yes' } }]);
  });
  const { body } = await installed.admin.post(`${core}/shop/configmaps?dryRun=All`, named('mutated'));
  expect(body.metadata.labels).toEqual({ managed: 'yes' });
  installed.webhooks.on('/mutate/ignore', () => ({ allowed: true }));
});

it('rules that the controller adds are in force, without another configuration being disturbed', async () => {
  const validating = installed.configurations[1]!;
  const path = `${installed.pathOf(validating)}/${validating.metadata.name}`;
  const services = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['services'],
    scope: '*',
  };
  const stored = await installed.stored(validating);
  const [first, ...others] = stored.webhooks;
  const changed = { ...stored, webhooks: [{ ...first, rules: [...first!.rules, services] }, ...others] };
  const updated = await installed.admin.put(path, changed);
  expect([updated.code, updated.body.metadata.generation]).toEqual([200, 2]);
  await installed.settled();
  const { calls } = await installed.callsOf(() =>
    installed.admin.post(`${core}/shop/services?dryRun=All`, named('s', { spec: { ports: [{ port: 80 }] } })),
  );
  expect(calls).toEqual(['/mutate/ignore CREATE services shop/s', '/validate/fail CREATE services shop/s']);
  const unchanged = await installed.admin.put(path, updated.body);
  expect(unchanged.body.metadata.resourceVersion).toBe(updated.body.metadata.resourceVersion);
});

it('without Kyverno, only writes that its failing webhook selects are refused (500)', async () => {
  await installed.webhooks.stop();
  const refused = await installed.admin.post(deployments, named('late', { spec: deploymentSpec }));
  expect([refused.code, refused.body.message]).toEqual([
    500,
    expect.stringMatching(
      /^Internal error occurred: failed calling webhook "validate\.kyverno\.svc-fail": failed to call webhook: Post "https:\/\/kyverno-svc\.kyverno\.svc:\d+\/validate\/fail\?timeout=10s": /,
    ),
  ]);
  expect((await installed.admin.post(`${core}/shop/configmaps`, named('late'))).code).toBe(201);
  const red = { metadata: { name: 'late', labels: { color: 'red' } } };
  expect((await installed.admin.post(`${core}?dryRun=All`, red)).code).toBe(201);
  const asNode = as('kubelet-1', 'system:nodes');
  expect((await asNode.post(`${core}/shop/pods`, named('late', { spec: podSpec }))).code).toBe(201);
});
