import { namingProfile } from '../../src/config/naming-profile.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { answers, AuthorizationWebhookServer } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';

/** Servers with webhook authorizers, which are real HTTPS servers. */
let files: ClientKubeconfigs;
let first: AuthorizationWebhookServer;
let second: AuthorizationWebhookServer;
const running: TestServer[] = [];
const lines: string[] = [];
const log = (message: string, fields?: Record<string, unknown>) =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };

beforeAll(() => (files = new ClientKubeconfigs()));
beforeEach(async () => {
  [first, second] = [await AuthorizationWebhookServer.start(), await AuthorizationWebhookServer.start()];
  lines.splice(0);
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await Promise.all([first.stop(), second.stop()]);
});
afterAll(() => files.remove());

interface Options {
  /** Fields of the webhook `first`. */
  readonly webhook?: Record<string, unknown>;
  readonly conditions?: readonly string[];
  readonly naming?: NamingName;
}

/** Starts a server with the webhooks `first` and `second` before RBAC, where bob may do everything. */
async function start({ webhook = {}, conditions = [], naming = 'kubernetes' }: Options = {}): Promise<TestServer> {
  const authorizer = (name: string, server: AuthorizationWebhookServer, more: Record<string, unknown>) => ({
    type: 'Webhook',
    name,
    webhook: {
      timeout: '30s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: 'Deny',
      connectionInfo: {
        type: 'KubeConfigFile',
        kubeConfigFile: files.kubeconfig(server, { token: `token-of-${name}` }),
      },
      ...more,
    },
  });
  const configuration = {
    apiVersion: `${namingProfile(naming).group('apiserver.config')}/v1`,
    kind: 'AuthorizationConfiguration',
    authorizers: [
      authorizer('first', first, { ...webhook, matchConditions: conditions.map((expression) => ({ expression })) }),
      authorizer('second', second, {}),
      { type: 'RBAC', name: 'rbac' },
    ],
  };
  const configFile = files.write('authorization.yaml', JSON.stringify(configuration));
  const tokenAuthFile = files.write('tokens.csv', 'eve-token,eve,7,"dev,ops"\nbob-token,bob,8\n');
  const config = { authorization: { configFile }, authentication: { tokenAuthFile } };
  const server = await startTestServer({ store: 'memory', naming }, { config, logger });
  running.push(server);
  return server;
}

const isAbout = (user: string) => (server: AuthorizationWebhookServer) =>
  server.reviews.filter(({ spec }) => spec.user === user);
const ofEve = isAbout('eve');

/** Lets bob do everything by RBAC, and waits until he may. */
async function allowBob(server: TestServer): Promise<HttpClient> {
  const rbac = 'rbac.authorization.k8s.io';
  const { code } = await server.admin.post(`/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'bob' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }],
  });
  expect(code).toBe(201);
  const bob = server.client({ token: 'bob-token' });
  await eventually('bob is bound', async () => (await bob.get('/api/v1/nodes')).code === 200);
  return bob;
}

const pods = '/api/v1/namespaces/default/pods';

describe.each<Protocol>(['http/1.1', 'h2'])('by %s', (protocol) => {
  it('the first webhook that allows or denies decides', async () => {
    const server = await start();
    const eve = server.client({ token: 'eve-token', protocol });
    first.answer = answers({ allowed: true });
    expect((await eve.get(pods)).code).toBe(200);
    expect(ofEve(second)).toEqual([]);

    first.answer = answers({ allowed: false });
    second.answer = answers({ allowed: true });
    expect((await eve.get('/api/v1/namespaces/default/configmaps')).code).toBe(200);

    first.answer = answers({ denied: true, reason: 'frozen until Monday' });
    const refused = await eve.get('/api/v1/namespaces/default/secrets');
    expect([refused.code, refused.body.reason]).toEqual([403, 'Forbidden']);
    expect(refused.body.message).toBe(
      'secrets is forbidden: User "eve" cannot list resource "secrets" in API group "" in the namespace "default": frozen until Monday',
    );
  });
});

it('a webhook gets user, attributes and selectors of the request', async () => {
  const eve = (await start()).client({ token: 'eve-token' });
  first.answer = answers({ allowed: true });
  await eve.get(`${pods}?labelSelector=app%3Dweb,!old&fieldSelector=spec.nodeName%3Dn1`);
  await eve.get('/metrics');
  expect(ofEve(first).map(({ spec }) => spec)).toEqual([
    {
      resourceAttributes: {
        namespace: 'default',
        verb: 'list',
        version: 'v1',
        resource: 'pods',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
        labelSelector: {
          requirements: [
            { key: 'app', operator: 'In', values: ['web'] },
            { key: 'old', operator: 'DoesNotExist' },
          ],
        },
      },
      user: 'eve',
      groups: ['dev', 'ops', 'system:authenticated'],
      uid: '7',
    },
    {
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
      user: 'eve',
      groups: ['dev', 'ops', 'system:authenticated'],
      uid: '7',
    },
  ]);
  expect(first.requests[0]?.headers.authorization).toBe('Bearer token-of-first');
});

it('a webhook gets the group of the naming profile, or v1beta1', async () => {
  const server = await start({ naming: 'svc', webhook: { subjectAccessReviewVersion: 'v1beta1' } });
  second.answer = answers({ allowed: true });
  expect((await server.client({ token: 'eve-token' }).get(pods)).code).toBe(200);
  expect(ofEve(first)).toMatchObject([
    { apiVersion: 'authorization.svc.example/v1beta1', spec: { group: ['dev', 'ops', 'system:authenticated'] } },
  ]);
  expect(ofEve(second)).toMatchObject([{ apiVersion: 'authorization.svc.example/v1' }]);
});

it('a webhook can deny what RBAC allows, but not to members of system:masters', async () => {
  const server = await start();
  const bob = await allowBob(server);
  first.answer = answers({ denied: true });
  expect((await bob.get(pods)).code).toBe(403);
  expect((await server.admin.get(pods)).code).toBe(200);
});

it('RBAC decides if no webhook has an opinion', async () => {
  const server = await start();
  const bob = await allowBob(server);
  expect((await bob.get(pods)).code).toBe(200);
  const refused = await server.client({ token: 'eve-token' }).get(pods);
  expect(refused.code).toBe(403);
});

it('a decision is kept, and that of another request is not used', async () => {
  const eve = (await start()).client({ token: 'eve-token' });
  first.answer = answers({ allowed: true });
  for (let n = 0; n < 5; n++) expect((await eve.get(pods)).code).toBe(200);
  expect(ofEve(first)).toHaveLength(1);
  first.answer = answers({ denied: true });
  expect((await eve.get(`${pods}/a`)).code).toBe(403);
  expect((await eve.get(pods)).code).toBe(200);
});

it('decisions are not kept without the caches', async () => {
  const webhook = { cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false };
  const eve = (await start({ webhook })).client({ token: 'eve-token' });
  first.answer = answers({ allowed: true });
  expect((await eve.get(pods)).code).toBe(200);
  first.answer = answers({ denied: true });
  expect((await eve.get(pods)).code).toBe(403);
  expect((await eve.get(pods)).code).toBe(403);
  expect(ofEve(first)).toHaveLength(3);
});

it.each([
  ['Deny', 403],
  ['NoOpinion', 200],
])('after a failed call with failurePolicy %s, the answer to bob is %d', async (failurePolicy, code) => {
  const server = await start({ webhook: { failurePolicy } });
  const bob = await allowBob(server);
  first.answer = (_review, response) => void response.writeHead(400).end('a secret');
  const answer = await bob.get(pods);
  expect(answer.code).toBe(code);
  const reason = 'the webhook authorizer "first" could not be asked';
  if (code === 403) expect(answer.body.message).toContain(reason);
  expect(lines.filter((line) => line.includes(reason))).toHaveLength(1);
  expect(lines.join()).not.toMatch(/a secret|token-of/);
});

it('match conditions choose the requests that the webhook gets', async () => {
  const conditions = ['has(request.resourceAttributes)', "request.resourceAttributes.namespace == 'default'"];
  const eve = (await start({ conditions })).client({ token: 'eve-token' });
  first.answer = answers({ allowed: true });
  expect((await eve.get(pods)).code).toBe(200);
  expect((await eve.get('/api/v1/namespaces/kube-system/pods')).code).toBe(403);
  expect((await eve.get('/metrics')).code).toBe(403);
  expect(ofEve(first)).toHaveLength(1);
  expect(ofEve(second)).toHaveLength(2);
});

it('an error of a match condition follows failurePolicy', async () => {
  const conditions = ["request.resourceAttributes.namespace == 'default'"];
  const eve = (await start({ conditions })).client({ token: 'eve-token' });
  second.answer = answers({ allowed: true });
  const refused = await eve.get('/metrics');
  expect(refused.code).toBe(403);
  expect(refused.body.message).toContain('a match condition of the webhook authorizer "first" failed');
  expect(ofEve(second)).toEqual([]);
});

it('reviews of the API show the decision and the reason of the webhook', async () => {
  const server = await start();
  const review = async (client: HttpClient, resource: string) => {
    const spec = { resourceAttributes: { verb: 'get', resource, namespace: 'default' } };
    const { body } = await client.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec });
    return body.status as unknown;
  };
  first.answer = (asked, response, request) => {
    const { resource = '' } = asked.spec.resourceAttributes ?? {};
    const allowed = { allowed: true, reason: 'as an owner' };
    const denied = { allowed: false, denied: true, reason: 'frozen' };
    const status = resource === 'pods' || resource === 'selfsubjectaccessreviews' ? allowed : denied;
    answers(status)(asked, response, request);
  };
  const eve = server.client({ token: 'eve-token' });
  expect(await review(eve, 'pods')).toEqual({ allowed: true, reason: 'as an owner' });
  expect(await review(eve, 'secrets')).toEqual({ allowed: false, denied: true, reason: 'frozen' });
  await first.stop();
  const reason = 'the webhook authorizer "first" could not be asked';
  const { body } = await server.admin.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: { user: 'eve', resourceAttributes: { verb: 'get', resource: 'nodes' } },
  });
  expect(body.status).toEqual({ allowed: false, denied: true, reason, evaluationError: reason });
});

it('a review of rules says that those of webhooks are missing', async () => {
  const server = await start();
  const rules = { spec: { namespace: 'default' } };
  first.answer = answers({ allowed: true });
  const { body } = await server
    .client({ token: 'eve-token' })
    .post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', rules);
  expect(body.status.incomplete).toBe(true);
  expect(body.status.evaluationError).toContain('webhook authorizer does not support user rule resolution');
});

it('metrics count calls, decisions and conditions by the name of the webhook', async () => {
  const conditions = ["request.resourceAttributes.resource != 'nodes'"];
  const server = await start({ webhook: { failurePolicy: 'NoOpinion' }, conditions });
  const eve = server.client({ token: 'eve-token' });
  first.answer = answers({ denied: true });
  await eve.get(pods);
  await eve.get('/api/v1/nodes');
  await eve.get('/metrics');
  first.answer = (_review, response) => void response.writeHead(400).end();
  await eve.get('/api/v1/namespaces/default/secrets');
  const { text } = await server.admin.get('/metrics');
  const prefix = 'apiserver_authorization';
  for (const line of [
    `${prefix}_webhook_evaluations_total{name="first",result="success"} 1`,
    `${prefix}_webhook_evaluations_total{name="first",result="error"} 1`,
    `${prefix}_webhook_duration_seconds_count{name="first",result="success"} 1`,
    `${prefix}_webhook_evaluations_fail_open_total{name="first",result="error"} 1`,
    `${prefix}_match_condition_exclusions_total{type="Webhook",name="first"} 1`,
    `${prefix}_match_condition_evaluation_errors_total{type="Webhook",name="first"} 1`,
    `${prefix}_match_condition_evaluation_seconds_count{type="Webhook",name="first"} 4`,
    `${prefix}_decisions_total{type="Webhook",name="first",decision="denied"} 1`,
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

it('a webhook that hangs delays no request that does not need it', async () => {
  const server = await start({ conditions: ["request.user != 'bob'"] });
  const bob = await allowBob(server);
  const eve = server.client({ token: 'eve-token' });
  first.answer = answers({ allowed: true });
  expect((await eve.get(pods)).code).toBe(200);
  const release: (() => void)[] = [];
  first.answer = (review, response, request) =>
    void release.push(() => answers({ allowed: true })(review, response, request));
  let isOver = false;
  const waiting = eve.get(`${pods}/absent`).finally(() => (isOver = true));
  await eventually('the webhook is asked', () => release.length === 1);
  expect((await eve.get(pods)).code).toBe(200);
  expect((await bob.get(pods)).code).toBe(200);
  expect((await server.admin.get('/readyz')).code).toBe(200);
  expect(isOver).toBe(false);
  release[0]?.();
  expect((await waiting).code).toBe(404);
});
