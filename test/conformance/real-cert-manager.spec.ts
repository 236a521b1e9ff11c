import { patched } from '../harness/admission-webhook.js';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { InstalledWebhooks } from '../harness/installed-webhooks.js';

// The webhook configurations of cert-manager, from their creation until the webhook is gone.

const certificates = '/apis/cert-manager.io/v1/namespaces/shop/certificates';
const olderCertificates = '/apis/cert-manager.io/v1alpha3/namespaces/shop/certificates';
const requests = '/apis/cert-manager.io/v1/namespaces/shop/certificaterequests';
const challenges = '/apis/acme.cert-manager.io/v1/namespaces/shop/challenges';
const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const called = 'failed calling webhook "webhook.cert-manager.io": failed to call webhook';

let installed: InstalledWebhooks;
beforeAll(async () => {
  installed = await InstalledWebhooks.start('cert-manager', 'https');
  await installed.namespace('shop');
  await installed.namespace('trusted', { 'cert-manager.io/disable-validation': 'true' });
  for (const [group, plural, kind] of [
    ['cert-manager.io', 'certificates', 'Certificate'],
    ['cert-manager.io', 'certificaterequests', 'CertificateRequest'],
    ['acme.cert-manager.io', 'challenges', 'Challenge'],
  ] as const) {
    const definition = customResourceDefinition({ group, plural, kind, schema });
    const [version] = definition.spec.versions;
    const withStatus = { ...version, subresources: { status: {} } };
    const versions = [withStatus, { ...withStatus, name: 'v1alpha3', storage: false }];
    await installed.created(definitions, { ...definition, spec: { ...definition.spec, versions } });
    const path = `/apis/${group}/v1alpha3/${plural}`;
    await eventually(`${plural} are served`, async () => (await installed.admin.get(path)).code === 200);
  }
  await installed.configure(false);
});
afterAll(() => installed.stop());

const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

describe('before the webhook runs', () => {
  it('a write is refused, since the Service has no endpoint (500)', async () => {
    const { code, body } = await installed.admin.post(certificates, named('early'));
    expect([code, body.reason, body.message]).toEqual([
      500,
      'InternalError',
      expect.stringMatching(`${called}: .*(no endpoints available for service|service) "cert-manager-webhook"`),
    ]);
  });

  it('a write in a namespace that disables validation is not', async () => {
    const path = '/apis/cert-manager.io/v1/namespaces/trusted/certificates';
    expect((await installed.admin.post(path, named('early'))).code).toBe(201);
  });
});

describe('the CA injector', () => {
  beforeAll(() => installed.announce());

  it('a webhook without CA bundle is not trusted (500)', async () => {
    const { admin } = installed;
    await eventually('the endpoint is known', async () =>
      (await admin.post(certificates, named('untrusted'))).text.includes('certificate signed by unknown authority'),
    );
    expect((await admin.get(`${certificates}/untrusted`)).code).toBe(404);
  });

  it('adds the CA bundle by an update and by server-side apply', async () => {
    const [validating, mutating] = [installed.configurations[0]!, installed.configurations[1]!];
    const { admin, webhooks } = installed;
    const { caBundle } = webhooks;
    const stored = await installed.stored(validating);
    const updated = stored.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }));
    const path = `${installed.pathOf(validating)}/cert-manager-webhook`;
    expect((await admin.put(path, { ...stored, webhooks: updated })).code).toBe(200);
    const { apiVersion, kind } = mutating;
    const applied = { apiVersion, kind, ...named('cert-manager-webhook') };
    const answer = await admin.patch(
      `${installed.pathOf(mutating)}/cert-manager-webhook?fieldManager=cainjector&force=true`,
      { ...applied, webhooks: [{ name: 'webhook.cert-manager.io', clientConfig: { caBundle } }] },
      'application/apply-patch+yaml',
    );
    expect([answer.code, answer.body.webhooks]).toMatchObject([
      200,
      [{ rules: [{ resources: ['certificaterequests'] }], clientConfig: { service: { path: '/mutate' }, caBundle } }],
    ]);
    await installed.settled();
    expect((await admin.post(certificates, named('trusted'))).code).toBe(201);
  });
});

describe('with the CA bundle', () => {
  it('both configurations are stored as submitted, with defaults', () => installed.expectStored());

  it.each<[string, (admin: HttpClient) => Promise<Answer>, string[]]>([
    ['a creation', (admin) => admin.post(certificates, named('web')), ['/validate CREATE certificates shop/web']],
    [
      'an update',
      (admin) => admin.patch(`${certificates}/web`, { spec: { a: 1 } }),
      ['/validate UPDATE certificates shop/web'],
    ],
    [
      'a subresource',
      (admin) => admin.patch(`${certificates}/web/status`, { status: { a: 1 } }),
      ['/validate UPDATE certificates/status shop/web'],
    ],
    [
      'an older version',
      (admin) => admin.post(olderCertificates, named('older')),
      ['/validate CREATE certificates shop/older'],
    ],
    ['the group of ACME', (admin) => admin.post(challenges, named('acme')), ['/validate CREATE challenges shop/acme']],
    [
      'a kind of both configurations',
      (admin) => admin.post(requests, named('both')),
      ['/mutate CREATE certificaterequests shop/both', '/validate CREATE certificaterequests shop/both'],
    ],
    ['a deletion', (admin) => admin.delete(`${certificates}/web`), []],
    ['another group', (admin) => admin.post('/api/v1/namespaces/shop/configmaps', named('web')), []],
    [
      'a namespace that disables validation',
      (admin) => admin.post('/apis/cert-manager.io/v1/namespaces/trusted/certificates', named('web')),
      [],
    ],
    [
      'a namespace that disables validation, which mutations ignore',
      (admin) => admin.post('/apis/cert-manager.io/v1/namespaces/trusted/certificaterequests', named('web')),
      ['/mutate CREATE certificaterequests trusted/web'],
    ],
  ])('%s is sent to the webhooks whose rules select it', async (_title, write, want) => {
    const { answer, calls } = await installed.callsOf(() => write(installed.admin));
    expect([answer.code < 300, calls]).toEqual([true, want]);
  });

  it('an older version is converted to the version of the rule', async () => {
    await installed.callsOf(() => installed.admin.post(olderCertificates, named('converted')));
    expect(installed.webhooks.reviews('/validate')).toMatchObject([
      {
        kind: { group: 'cert-manager.io', version: 'v1', kind: 'Certificate' },
        requestKind: { version: 'v1alpha3' },
        object: { apiVersion: 'cert-manager.io/v1', metadata: { name: 'converted' } },
      },
    ]);
  });

  it('the mutating webhook adds the identity of the requester, as of CertificateRequests', async () => {
    installed.webhooks.on('/mutate', ({ userInfo }) =>
      patched([{ op: 'add', path: '/spec', value: { username: userInfo?.username, groups: userInfo?.groups } }]),
    );
    const { body } = await installed.admin.post(requests, named('identity'));
    expect(body.spec.groups).toEqual(expect.arrayContaining(['system:masters', 'system:authenticated']));
    installed.webhooks.on('/mutate', () => ({ allowed: true }));
  });

  it('a denial refuses the write', async () => {
    const message = 'spec.secretName: Required value: must be specified';
    installed.webhooks.on('/validate', () => ({
      allowed: false,
      status: { code: 406, reason: 'NotAcceptable', message },
    }));
    const { code, body } = await installed.admin.post(certificates, named('denied'));
    expect([code, body.reason, body.message]).toEqual([
      406,
      'NotAcceptable',
      `admission webhook "webhook.cert-manager.io" denied the request: ${message}`,
    ]);
    expect((await installed.admin.get(`${certificates}/denied`)).code).toBe(404);
    installed.webhooks.on('/validate', () => ({ allowed: true }));
  });
});

it('a webhook that is gone refuses writes of its kinds only (500)', async () => {
  await installed.webhooks.stop();
  const refused = await installed.admin.post(certificates, named('late'));
  expect([refused.code, refused.body.message]).toEqual([
    500,
    expect.stringMatching(
      `^Internal error occurred: ${called}: Post "https://cert-manager-webhook\\.cert-manager\\.svc:\\d+/validate\\?timeout=30s": `,
    ),
  ]);
  expect((await installed.admin.post('/api/v1/namespaces/shop/configmaps', named('late'))).code).toBe(201);
  expect((await installed.admin.delete(`${certificates}/trusted`)).code).toBe(200);
});
