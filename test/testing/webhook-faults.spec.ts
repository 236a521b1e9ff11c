import { namingProfile } from '../../src/config/naming-profile.js';
import type { RuleCounts } from '../../src/faults/fault-injector.js';
import type { AdmissionWebhooks } from '../harness/admission-webhook.js';
import { AuthorizationWebhookServer, answers } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { acceptAll, WebhookServer } from '../harness/token-webhook.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

const configMaps = '/api/v1/namespaces/default/configmaps';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let tokens: WebhookServer;
let access: AuthorizationWebhookServer;
let files: ClientKubeconfigs;
beforeAll(async () => {
  files = new ClientKubeconfigs();
  [tokens, access] = [await WebhookServer.start(), await AuthorizationWebhookServer.start()];
  tokens.answer = acceptAll;
  access.answer = answers({ allowed: true });
  const webhook = {
    ...{ timeout: '30s', subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1' },
    ...{ failurePolicy: 'NoOpinion', authorizedTTL: '1ns', unauthorizedTTL: '1ns' },
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: files.kubeconfig(access, {}) },
  };
  const authorization = {
    apiVersion: `${namingProfile('kubernetes').group('apiserver.config')}/v1`,
    kind: 'AuthorizationConfiguration',
    authorizers: [
      { type: 'RBAC', name: 'rbac' },
      { type: 'Webhook', name: 'policy', webhook },
    ],
  };
  world = await startWebhookWorld({
    config: {
      faults: { allowed: true },
      authentication: { tokenWebhook: { configFile: files.kubeconfig(tokens, {}) } },
      authorization: { configFile: files.write('authorization.yaml', JSON.stringify(authorization)) },
    },
  });
  ({ admin, webhooks } = world);
});
afterEach(async () => void (await admin.delete('/debug/faults')));
afterAll(async () => {
  await world.stop();
  await Promise.all([tokens.stop(), access.stop()]);
  files.remove();
});

async function setRules(...rules: readonly object[]): Promise<void> {
  const { code, text } = await admin.put('/debug/faults', { rules });
  if (code !== 200) throw new Error(text);
}
const counts = async () => (await admin.get('/debug/faults')).body.rules as readonly RuleCounts[];

let count = 0;
async function write(labels: object) {
  const name = `w${count++}`;
  const { code, body } = await admin.post(configMaps, { metadata: { name, labels } });
  return {
    code,
    message: body.message as string | undefined,
    isStored: (await admin.get(`${configMaps}/${name}`)).code === 200,
  };
}

/** Values of the metrics of one webhook, without those of durations. */
async function callMetrics(webhook: string): Promise<readonly string[]> {
  const { text } = await admin.get('/metrics');
  return text
    .split('\n')
    .filter((line) => line.includes(webhook) && !line.includes('_bucket') && !line.includes('_sum'))
    .map((line) => line.replaceAll(webhook, 'HOOK'))
    .sort();
}

describe('a failing call of an admission webhook is that of a webhook that fails itself', () => {
  /** Installs two equal webhooks; the first one fails by its server, the second one by a fault plan. */
  async function twins(kind: 'mutating' | 'validating', fields: object) {
    const one = await world.installer.install(kind, [fields]);
    const two = await world.installer.install(kind, [fields]);
    return { real: one, injected: two };
  }
  const anyName = (text: string | undefined, name: string) =>
    text?.replaceAll(name, 'NAME').replace(/\b127\.0\.0\.1:\d+|\[::1\]:\d+|localhost:\d+/g, 'HOST');

  const cases = [
    ['an error status', { status: 500 }, 'status'],
    ['an answer that is not JSON', { malformedAnswer: true }, 'malformed'],
    ['no answer in its time', { noAnswer: true }, 'silent'],
    ['a latency beyond its time', { latency: '5s' }, 'silent'],
    ['a denial', { deny: 'not on Fridays' }, 'deny'],
  ] as const;
  const kinds = ['mutating', 'validating'] as const;
  const policies = ['Fail', 'Ignore'] as const;
  const table = cases.flatMap((one, index) => {
    const [kind, failurePolicy] = [kinds[index % 2]!, policies[(index >> 1) % 2]!];
    return [
      [...one, kind, 'Fail'] as const,
      ...(failurePolicy === 'Ignore' ? [[...one, kind, 'Ignore'] as const] : []),
    ];
  });

  it.each(table)('%s: %j', async (_name, fault, behaviour, kind, failurePolicy) => {
    const { real, injected } = await twins(kind, { failurePolicy, timeoutSeconds: 1 });
    const [path = ''] = real.paths;
    webhooks.onRequest(path, (response, { apiVersion, request: { uid } }) => {
      if (behaviour === 'status') response.writeHead(500).end('broken');
      if (behaviour === 'malformed') response.writeHead(200).end('{"x');
      if (behaviour === 'deny') {
        const denied = { uid, allowed: false, status: { message: 'not on Fridays' } };
        response.writeHead(200).end(JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: denied }));
      }
    });
    await setRules({ name: 'r', webhooks: { kinds: [kind], configurations: [injected.name] }, fault });
    const expected = await write(real.labels);
    const got = await write(injected.labels);
    expect({ ...got, message: anyName(got.message, injected.name) }).toEqual({
      ...expected,
      message: anyName(expected.message, real.name),
    });
    expect(expected.code).toBe(
      failurePolicy === 'Ignore' && behaviour !== 'deny' ? 201 : behaviour === 'deny' ? 400 : 500,
    );
    expect(await callMetrics(`h0.${injected.name}.test`)).toEqual(await callMetrics(`h0.${real.name}.test`));
    expect(await counts()).toEqual([{ name: 'r', matched: 1, injected: 1 }]);
    expect(webhooks.at(injected.paths[0]!)).toEqual([]);
  });

  it('a refused connection has the message of an address on which nothing listens', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/' };
    const { real, injected } = await twins('validating', { clientConfig });
    const { code, message } = await write(real.labels);
    expect([code, message]).toEqual([500, expect.stringMatching(/connect: connection refused$/)]);
    await setRules({ webhooks: { configurations: [injected.name] }, fault: { refuseConnection: true } });
    expect(anyName((await write(injected.labels)).message, injected.name)).toBe(anyName(message, real.name));
  });

  it('an allowed call needs no webhook; matching is by kind, configuration and name, with a latency and a limit', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/' };
    const { name, labels } = await world.installer.install('validating', [{ clientConfig }]);
    const kinds = ['validating', 'mutating'];
    const webhook = { kinds, names: [`h0.${name}*`] };
    await setRules(
      { name: 'other', webhooks: { kinds: ['mutating'] }, fault: { status: 500 } },
      { name: 'allowed', webhooks: webhook, limit: 1, fault: { allow: true } },
      { name: 'slow', webhooks: { names: [`h0.${name}.test`] }, fault: { latency: '300ms' } },
    );
    const beginMs = performance.now();
    expect((await write(labels)).code).toBe(201);
    expect(performance.now() - beginMs).toBeGreaterThanOrEqual(299);
    expect((await write(labels)).code).toBe(500);
    expect(await counts()).toEqual([
      { name: 'other', matched: 0, injected: 0 },
      { name: 'allowed', matched: 2, injected: 1 },
      { name: 'slow', matched: 2, injected: 2 },
    ]);
  });
});

it('a conversion webhook fails for one kind, and its message reaches the client', async () => {
  const [group, plural] = ['faults.example.com', 'boxes'];
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema });
  const clientConfig = { url: `https://localhost:${webhooks.port}/convert`, caBundle: webhooks.caBundle };
  const created = await admin.post(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural, kind: 'Box' }, versions: [version('v1'), version('v2')] },
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  });
  expect(created.code).toBe(201);
  const path = (name: string) => `/apis/${group}/${name}/namespaces/default/${plural}`;
  const object = { apiVersion: `${group}/v1`, kind: 'Box', metadata: { name: 'a' } };
  await eventually('the kind is served', async () => (await admin.post(path('v1'), object)).code === 201);
  const failing = async (fault: object) => {
    await setRules({ webhooks: { kinds: ['conversion'], configurations: [`${plural}.${group}`] }, fault });
    const { code, body } = await admin.get(`${path('v2')}/a`);
    return [code, body.message as string];
  };
  const prefix = `conversion webhook for ${group}/v1, Kind=Box failed: `;
  expect(await failing({ deny: 'no such size' })).toEqual([500, `${prefix}no such size`]);
  expect(await failing({ status: 503 })).toEqual([
    500,
    `${prefix}the server is currently unable to handle the request`,
  ]);
  expect(await failing({ malformedAnswer: true })).toEqual([500, expect.stringContaining('is not JSON')]);
  expect(webhooks.at('/convert')).toEqual([]);
});

it('webhooks of authentication and of authorization fail, and never grant access', async () => {
  const eve = (token: string) => world.server.client({ token });
  expect((await eve('eve').get(configMaps)).code).toBe(200);
  await setRules({ webhooks: { kinds: ['authorization'], configurations: ['policy'] }, fault: { deny: 'closed' } });
  const denied = await eve('eve').get(configMaps);
  expect([denied.code, denied.body.message]).toEqual([403, expect.stringMatching(/closed$/)]);
  await setRules({ webhooks: { kinds: ['authorization'] }, fault: { refuseConnection: true } });
  expect((await eve('eve').get(configMaps)).code).toBe(403);
  await setRules({ webhooks: { kinds: ['authentication'] }, fault: { deny: 'unknown' } });
  expect((await eve('mallory').get(configMaps)).code).toBe(401);
  expect(tokens.asked('mallory')).toBe(0);
  await admin.delete('/debug/faults');
  expect((await eve('mallory').get(configMaps)).code).toBe(200);
  for (const kinds of [['authorization'], ['validating', 'authentication'], undefined]) {
    const rules = [{ webhooks: { ...(kinds && { kinds }) }, fault: { allow: true } }];
    const refused = await admin.put('/debug/faults', { rules });
    expect([refused.code, refused.body.message]).toEqual([400, expect.stringMatching(/faults grant no access$/)]);
  }
});

describe('rules with users', () => {
  const as = (user: string) => ({ 'Impersonate-User': user });
  const operator = 'system:serviceaccount:shop:operator';

  it('deny admission to these users alone, also to those that are impersonated', async () => {
    const { name, labels } = await world.installer.install('validating', [{}]);
    const users = ['eve', 'system:serviceaccount:shop:*'];
    await setRules({ name: 'r', webhooks: { configurations: [name], users }, fault: { deny: 'closed' } });
    const eve = world.server.client({ token: 'eve' });
    const mallory = world.server.client({ token: 'mallory' });
    const post = async (client: HttpClient, headers?: Record<string, string>) =>
      (await client.post(configMaps, { metadata: { name: `u${count++}`, labels } }, headers)).code;
    expect([await post(eve), await post(admin, as('eve')), await post(admin, as(operator))]).toEqual([400, 400, 400]);
    expect([await post(mallory), await post(admin), await post(admin, as('eve2'))]).toEqual([201, 201, 201]);
    expect(await counts()).toEqual([{ name: 'r', matched: 3, injected: 3 }]);
  });

  it('let calls of authorizers fail for the user whose request is reviewed', async () => {
    await setRules({ name: 'r', webhooks: { kinds: ['authorization'], users: ['eve'] }, fault: { deny: 'closed' } });
    const code = async (token: string) => (await world.server.client({ token }).get(configMaps)).code;
    expect([await code('eve'), await code('eve2')]).toEqual([403, 200]);
    const review = async (user: string) => {
      const spec = { user, resourceAttributes: { namespace: 'default', verb: 'list', resource: 'configmaps' } };
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
      const { body } = await admin.post(path, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec,
      });
      return [body.status.allowed, body.status.reason];
    };
    expect([await review('eve'), await review('eve2')]).toEqual([
      [false, 'closed'],
      [true, undefined],
    ]);
  });

  it('leave calls of authentication webhooks alone, and are refused for them', async () => {
    await setRules({ name: 'r', webhooks: { users: ['*'] }, fault: { refuseConnection: true } });
    expect((await world.server.client({ token: 'nobody-yet' }).get('/healthz')).code).not.toBe(401);
    expect(tokens.asked('nobody-yet')).toBe(1);
    const rules = [{ webhooks: { kinds: ['authentication'], users: ['eve'] }, fault: { status: 500 } }];
    const { code, body } = await admin.put('/debug/faults', { rules });
    expect([code, body.message]).toEqual([
      400,
      expect.stringMatching(/users: calls of the kind authentication have no user$/),
    ]);
  });
});

it('the header Keelson-Fault cannot let webhooks fail, which would bypass failurePolicy Ignore', async () => {
  for (const value of ['webhooks: {kinds: [validating]}', 'allow: true', 'noAnswer: true', 'refuseConnection: true']) {
    const { code, body } = await admin.post(configMaps, { metadata: { name: 'x' } }, { 'Keelson-Fault': value });
    expect([code, body.message]).toEqual([400, expect.stringContaining('not known; one of status, latency')]);
  }
});
