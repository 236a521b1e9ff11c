import { patched, registration } from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { InstalledWebhooks } from '../harness/installed-webhooks.js';

// The webhook configurations of Gatekeeper, which select all resources except in exempted namespaces.

const ignored = { 'admission.gatekeeper.sh/ignore': 'no-self-managing' };
const core = '/api/v1/namespaces';
const deployments = '/apis/apps/v1/namespaces/shop/deployments';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const labelled = (name: string, labels: object) => ({ metadata: { name, labels } });

let installed: InstalledWebhooks;
beforeAll(async () => {
  installed = await InstalledWebhooks.start('gatekeeper', 'https-webhook-server');
  await installed.namespace('shop');
  await installed.namespace('exempt', ignored);
  await installed.created(`${core}/shop/pods`, named('pod', { spec: podSpec }));
  const template = { metadata: { labels: { app: 'a' } }, spec: podSpec };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template };
  await installed.created(deployments, named('web', { spec }));
  await installed.announce();
  await installed.configure();
});
afterAll(() => installed.stop());

it('the configurations are stored as submitted, with defaults', () => installed.expectStored());

it.each<[string, (admin: HttpClient) => Promise<Answer>, string[]]>([
  [
    'a creation',
    (admin) => admin.post(`${core}/shop/configmaps`, named('web')),
    ['/v1/admit CREATE configmaps shop/web', '/v1/mutate CREATE configmaps shop/web'],
  ],
  [
    'a dry run',
    (admin) => admin.post(`${core}/shop/configmaps?dryRun=All`, named('dry')),
    ['/v1/admit CREATE configmaps shop/dry', '/v1/mutate CREATE configmaps shop/dry'],
  ],
  [
    'a cluster-scoped resource, which no namespaceSelector exempts',
    (admin) => admin.post('/apis/scheduling.k8s.io/v1/priorityclasses', named('high', { value: 9 })),
    ['/v1/admit CREATE priorityclasses high', '/v1/mutate CREATE priorityclasses high'],
  ],
  [
    'a virtual resource',
    (admin) =>
      admin.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
      }),
    ['/v1/admit CREATE selfsubjectaccessreviews ', '/v1/mutate CREATE selfsubjectaccessreviews '],
  ],
  [
    'a Namespace',
    (admin) => admin.post(`${core}?dryRun=All`, named('new')),
    [
      '/v1/admit CREATE namespaces new/new',
      '/v1/admitlabel CREATE namespaces new/new',
      '/v1/mutate CREATE namespaces new/new',
    ],
  ],
  [
    'a Namespace with the label of exempted ones',
    (admin) => admin.post(`${core}?dryRun=All`, labelled('new', ignored)),
    ['/v1/admitlabel CREATE namespaces new/new'],
  ],
  [
    'a Namespace that gets the label of exempted ones',
    (admin) => admin.patch(`${core}/shop?dryRun=All`, { metadata: { labels: ignored } }),
    ['/v1/admitlabel UPDATE namespaces shop/shop'],
  ],
  [
    'a subresource that only the validation names',
    (admin) => admin.patch(`${deployments}/web/scale?dryRun=All`, { spec: { replicas: 2 } }),
    ['/v1/admit UPDATE deployments/scale shop/web'],
  ],
  [
    'an eviction',
    (admin) => admin.post(`${core}/shop/pods/pod/eviction?dryRun=All`, named('pod')),
    ['/v1/admit CREATE pods/eviction shop/pod'],
  ],
  [
    'a subresource without rule',
    (admin) => admin.patch(`${core}/shop/pods/pod/status`, { status: { reason: 'r' } }),
    [],
  ],
  ['a namespace with a label that exempts', (admin) => admin.post(`${core}/exempt/configmaps`, named('web')), []],
  ['the namespace of Gatekeeper', (admin) => admin.post(`${core}/gatekeeper-system/configmaps`, named('web')), []],
  ['a deletion', (admin) => admin.delete(`${core}/shop/configmaps/web`), []],
  [
    'a change of its own configuration',
    (admin) =>
      admin.patch(`${registration}/validatingwebhookconfigurations/gatekeeper-validating-webhook-configuration`, {
        metadata: { annotations: { changed: 'yes' } },
      }),
    [],
  ],
])('%s is sent to the webhooks whose rules and selectors match', async (_title, write, want) => {
  const { answer, calls } = await installed.callsOf(() => write(installed.admin));
  expect([answer.code < 300 ? '' : answer.text, calls]).toEqual(['', want]);
});

it('a connection is not sent, since the rules have only CREATE and UPDATE', async () => {
  const { calls } = await installed.callsOf(() => installed.admin.post(`${core}/shop/pods/pod/exec?command=ls`, {}));
  expect(calls).toEqual([]);
});

it('a mutation is stored, and validated by the other configuration', async () => {
  installed.webhooks.on('/v1/mutate', () =>
    patched([{ op: 'add', path: '/metadata/labels', value: { owner: 'ops' } }]),
  );
  const { answer } = await installed.callsOf(() => installed.admin.post(`${core}/shop/configmaps`, named('mutated')));
  expect(answer.body.metadata.labels).toEqual({ owner: 'ops' });
  expect(installed.webhooks.reviews('/v1/admit')).toMatchObject([
    { object: { metadata: { labels: { owner: 'ops' } } } },
  ]);
  installed.webhooks.on('/v1/mutate', () => ({ allowed: true }));
});

it('violations of constraints deny the request, with warnings of other constraints', async () => {
  const message = '[ns-must-have-owner] you must provide labels: {"owner"}';
  installed.webhooks.on('/v1/admit', () => ({
    allowed: false,
    status: { code: 403, reason: message, message },
    warnings: ['[repo-check] use another repository'],
  }));
  const { code, body, warnings } = await installed.admin.post(`${core}/shop/configmaps`, named('denied'));
  expect([code, body.message, warnings]).toEqual([
    403,
    `admission webhook "validation.gatekeeper.sh" denied the request: ${message}`,
    ['[repo-check] use another repository'],
  ]);
  expect((await installed.admin.get(`${core}/shop/configmaps/denied`)).code).toBe(404);
  installed.webhooks.on('/v1/admit', () => ({ allowed: true }));
});

it('an unauthorized exemption is denied by the check of the label', async () => {
  installed.webhooks.on('/v1/admitlabel', ({ object }) => {
    const { labels = {} } = (object as { readonly metadata: { readonly labels?: object } }).metadata;
    return 'admission.gatekeeper.sh/ignore' in labels
      ? { allowed: false, status: { code: 403, message: 'Only exempt namespace can have the label' } }
      : { allowed: true };
  });
  const denied = await installed.admin.post(core, labelled('sneaky', ignored));
  expect([denied.code, denied.body.message]).toEqual([
    403,
    'admission webhook "check-ignore-label.gatekeeper.sh" denied the request: Only exempt namespace can have the label',
  ]);
  expect((await installed.admin.post(`${core}?dryRun=All`, named('honest'))).code).toBe(201);
});

it('without Gatekeeper, only the check of the label refuses writes (500)', async () => {
  await installed.webhooks.stop();
  await eventually('connections are closed', async () => {
    const { code } = await installed.admin.post(`${core}?dryRun=All`, named('late'));
    return code === 500;
  });
  const refused = await installed.admin.post(core, named('late'));
  expect(refused.body.message).toContain('failed calling webhook "check-ignore-label.gatekeeper.sh"');
  expect((await installed.admin.post(`${core}/shop/configmaps`, named('late'))).code).toBe(201);
  expect((await installed.admin.delete(`${core}/exempt`)).code).toBe(200);
});
