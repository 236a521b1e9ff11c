import { writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfiguredAuthorizer } from '../../src/auth/authorizers.list.js';
import type { LiveFiles } from '../../src/certificates/live-files.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { answers, AuthorizationWebhookServer } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

let files: ClientKubeconfigs;
let file: string;
const webhooks: AuthorizationWebhookServer[] = [];
const running: TestServer[] = [];
const lines: string[] = [];
const log = (message: string, fields?: Record<string, unknown>) =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };

beforeEach(() => {
  files = new ClientKubeconfigs();
  file = join(files.directory, 'authorization.yaml');
  lines.length = 0;
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  for (const webhook of webhooks.splice(0)) await webhook.stop();
  files.remove();
});

async function startWebhook(answer?: AuthorizationWebhookServer['answer']): Promise<AuthorizationWebhookServer> {
  const webhook = await AuthorizationWebhookServer.start();
  if (answer) webhook.answer = answer;
  webhooks.push(webhook);
  return webhook;
}

const kubeconfigOf = (webhook: AuthorizationWebhookServer) => files.kubeconfig(webhook, {});
const hook = (name: string, kubeConfigFile: string, changes: object = {}) => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '30s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    ...changes,
  },
});
const rbac = { type: 'RBAC', name: 'rbac' };
const content = (...authorizers: readonly object[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });

/** Replaces the file at once. */
async function replace(text: string): Promise<void> {
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
}

interface Options {
  readonly authorization?: ConfigOverrides['authorization'];
  readonly authentication?: ConfigOverrides['authentication'];
  readonly clock?: Clock;
}

async function start({ authorization, authentication, clock }: Options = {}): Promise<TestServer> {
  const tokenAuthFile = files.write('tokens.csv', 'a,alice,1,""\nm,mallory,2,""\nb,bob,3,""\n');
  const config = {
    authorization: authorization ?? { configFile: file },
    authentication: { ...authentication, tokenAuthFile },
  };
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config, logger, ...(clock && { clock }) },
  );
  running.push(server);
  return server;
}

const fileOf = (server: TestServer) =>
  server.keelson.components.authorization!.authorizers as LiveFiles<readonly ConfiguredAuthorizer[]>;
/** Makes the two checks of the file that a change needs. */
async function follow(server: TestServer): Promise<void> {
  await fileOf(server).refresh();
  await fileOf(server).refresh();
}
const client = (server: TestServer, token: string, headers: Record<string, string> = {}) => {
  const made = server.client({ token });
  return { get: (path: string) => made.request('GET', path, { headers }) };
};
const codeOf = async (asked: Pick<HttpClient, 'get'>, path: string) => (await asked.get(path)).code;
const namespaces = '/api/v1/namespaces';
const controller = 'apiserver_authorization_config_controller';
/** Allows and denies users by name. */
const decides =
  (allowed: readonly string[], denied: readonly string[] = []): AuthorizationWebhookServer['answer'] =>
  (review, response, request) => {
    const { user = '' } = review.spec;
    const status = { allowed: allowed.includes(user), denied: denied.includes(user) };
    answers(status)(review, response, request);
  };

it('the authorizers of the file decide in order, and are counted by name', async () => {
  const webhook = await startWebhook(decides(['alice'], ['mallory']));
  const conditions = [{ expression: "request.user != 'bob'" }];
  writeFileSync(file, content(hook('first', kubeconfigOf(webhook), { matchConditions: conditions }), rbac));
  const server = await start();
  expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
  expect(await codeOf(client(server, 'm'), namespaces)).toBe(403);
  expect(await codeOf(client(server, 'b'), namespaces)).toBe(403);
  expect(await codeOf(client(server, 'b'), '/api')).toBe(200);
  expect(webhook.reviews.map(({ apiVersion, spec }) => [apiVersion, spec.user])).toEqual([
    ['authorization.k8s.io/v1', 'alice'],
    ['authorization.k8s.io/v1', 'mallory'],
  ]);
  const { text } = await server.admin.get('/metrics');
  const decisions = 'apiserver_authorization_decisions_total';
  expect(text).toContain(`${decisions}{type="Webhook",name="first",decision="allowed"} 1`);
  expect(text).toContain(`${decisions}{type="Webhook",name="first",decision="denied"} 1`);
  expect(text).toMatch(
    /^apiserver_authorization_config_controller_last_config_info\{.*hash="sha256:[0-9a-f]{64}"\} 1/m,
  );
  expect(text).not.toContain(`${controller}_automatic_reloads_total{`);
});

it('the flags of a webhook make one authorizer, which is called default and gets v1beta1', async () => {
  const webhook = await startWebhook(decides(['alice']));
  const configFile = kubeconfigOf(webhook);
  const server = await start({ authorization: { modes: ['Webhook', 'RBAC'], webhook: { configFile } } });
  expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
  expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
  expect(webhook.reviews.map(({ apiVersion }) => apiVersion)).toEqual(['authorization.k8s.io/v1beta1']);
  await webhook.stop();
  expect(await codeOf(client(server, 'b'), '/api')).toBe(200);
  const { text } = await server.admin.get('/metrics');
  expect(text).toContain('decisions_total{type="Webhook",name="default",decision="allowed"} 2');
  expect(text).not.toContain(controller);
});

it('a TTL of zero in the flags disables the cache', async () => {
  const webhook = await startWebhook(decides(['alice']));
  const flags = { configFile: kubeconfigOf(webhook), version: 'v1', authorizedTtlMs: 0 } as const;
  const server = await start({ authorization: { modes: ['Webhook'], webhook: flags } });
  for (let n = 0; n < 2; n++) expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
  expect(webhook.reviews.map(({ apiVersion }) => apiVersion)).toEqual([
    'authorization.k8s.io/v1',
    'authorization.k8s.io/v1',
  ]);
});

describe('a start fails', () => {
  // The tests may run in a Pod.
  beforeEach(() => void delete process.env['KUBERNETES_SERVICE_HOST']);

  it.each<[string, () => string, RegExp]>([
    [
      'with all problems of the file',
      () => content(hook('A', '/does/not/exist', { timeout: '31s' }), { type: 'Rbac', name: 'x' }),
      /authorizers\[0\]\.name: .*authorizers\[0\]\.timeout: .*kubeConfigFile: .*authorizers\[1\]\.type: Unsupported/s,
    ],
    [
      'with a kubeconfig that cannot be used',
      () => content(hook('first', files.write('broken', 'clusters: []')), rbac),
      /--authorization-config: .*authorizer first: kubeconfig .*broken/s,
    ],
    [
      'with InClusterConfig outside of a Pod',
      () => content(hook('first', '', { connectionInfo: { type: 'InClusterConfig' } })),
      /authorizer first: InClusterConfig needs KUBERNETES_SERVICE_HOST/,
    ],
  ])('%s', async (_title, text, problem) => {
    writeFileSync(file, text());
    await expect(start()).rejects.toThrow(problem);
  });

  it('without the file', async () =>
    expect(start()).rejects.toThrow(`--authorization-config: cannot use ${file}: ENOENT`));

  it('with a kubeconfig of the flags that does not exist', async () => {
    const authorization = { modes: ['Webhook'], webhook: { configFile: '/does/not/exist' } } as const;
    await expect(start({ authorization })).rejects.toThrow('--authorization-webhook-config-file: kubeconfig /does/not');
  });
});

it('AlwaysAllow in the file rejects anonymous requests (401)', async () => {
  writeFileSync(file, content({ type: 'AlwaysAllow' }));
  const server = await start();
  expect((await server.client().get('/api')).code).toBe(401);
  expect(await codeOf(client(server, 'b'), namespaces)).toBe(200);
});

describe('a change of the file', () => {
  it('takes effect without a restart, also if it changes the order', async () => {
    const webhook = await startWebhook(decides([], ['bob']));
    const first = hook('first', kubeconfigOf(webhook));
    writeFileSync(file, content(first, rbac));
    const server = await start();
    const bob = client(server, 'b');
    expect(await codeOf(bob, '/api')).toBe(403);
    await replace(content(rbac, first));
    await eventually('RBAC decides first', async () => (await codeOf(bob, '/api')) === 200);
    const { text } = await server.admin.get('/metrics');
    expect(text).toMatch(
      /^apiserver_authorization_config_controller_automatic_reloads_total\{status="success",.*\} 1$/m,
    );
    const time = new RegExp(`^${controller}_automatic_reload_last_timestamp_seconds\\{status="success",.*\\} \\d`, 'm');
    expect(time.test(text)).toBe(true);
  });

  it.each<[string, () => string, string]>([
    ['invalid YAML', () => 'authorizers: [', 'cannot be read'],
    ['an empty file', () => '', 'cannot be read'],
    ['an unknown field', () => content({ ...rbac, more: 1 }), 'authorizers[0].more: unknown field'],
    ['no RBAC', () => content(hook('a', kubeconfigOf(webhooks[0]!))), 'RBAC cannot be removed without a restart'],
    ['AlwaysAllow', () => content({ type: 'AlwaysAllow' }, rbac), 'AlwaysAllow cannot be added without a restart'],
    ['Node', () => content(rbac, { type: 'Node' }), 'Node cannot be added without a restart'],
    ['a broken kubeconfig', () => content(hook('a', files.write('k', '{}')), rbac), 'authorizer a: kubeconfig'],
    [
      'a condition that does not compile',
      () => content(hook('a', kubeconfigOf(webhooks[0]!), { matchConditions: [{ expression: 'x' }] }), rbac),
      'authorizers[0].matchConditions[0].expression: Invalid value: ',
    ],
  ])('to one with %s is logged and counted once, and the old authorizers decide', async (_title, text, problem) => {
    const webhook = await startWebhook(decides(['alice'], ['bob']));
    writeFileSync(file, content(hook('first', kubeconfigOf(webhook)), rbac));
    const server = await start();
    await replace(text());
    await follow(server);
    await follow(server);
    expect(await codeOf(client(server, 'b'), '/api')).toBe(403);
    expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
    const logged = lines.filter((line) => line.includes('authorization configuration cannot be used'));
    expect(logged).toEqual([expect.stringContaining(problem)]);
    const failures = /^apiserver_authorization_config_controller_automatic_reloads_total\{status="failure",.*\} 1$/m;
    expect((await server.admin.get('/metrics')).text).toMatch(failures);
    await replace(content(hook('second', kubeconfigOf(webhook)), rbac));
    await follow(server);
    expect(fileOf(server).current()[0]!.name).toBe('second');
  });

  it('that removes the file keeps the old authorizers', async () => {
    writeFileSync(file, content(rbac));
    const server = await start();
    await rename(file, `${file}.away`);
    await follow(server);
    expect(await codeOf(client(server, 'b'), '/api')).toBe(200);
    expect(lines.join('\n')).toContain('authorization configuration cannot be used');
  });

  it('of comments alone keeps the webhook and its cache', async () => {
    const webhook = await startWebhook(decides(['alice']));
    const text = content(hook('first', kubeconfigOf(webhook)), rbac);
    writeFileSync(file, text);
    const server = await start();
    expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
    await replace(`# comment\n${text}`);
    await follow(server);
    expect(await codeOf(client(server, 'a'), namespaces)).toBe(200);
    expect(webhook.requests).toHaveLength(1);
    expect((await server.admin.get('/metrics')).text).not.toContain(`${controller}_automatic_reloads_total{`);
  });

  it('waits for running decisions of the old webhook, then closes its connections', async () => {
    const waiting: (() => void)[] = [];
    const old = await startWebhook((review, response, request) => {
      waiting.push(() => answers({ allowed: true })(review, response, request));
    });
    const renewed = await startWebhook(decides([], ['alice']));
    writeFileSync(file, content(hook('old', kubeconfigOf(old)), rbac));
    const server = await start();
    const begun = codeOf(client(server, 'a'), namespaces);
    await eventually('the old webhook is asked', () => waiting.length === 1);
    await replace(content(hook('new', kubeconfigOf(renewed)), rbac));
    await follow(server);
    expect(await codeOf(client(server, 'a'), namespaces)).toBe(403);
    expect(await old.connections()).toBe(1);
    waiting[0]!();
    expect(await begun).toBe(200);
    await eventually('the connection is closed', async () => (await old.connections()) === 0);
    expect(await codeOf(client(server, 'a'), `${namespaces}/default`)).toBe(403);
    expect(old.requests).toHaveLength(1);
  });

  it('decides neither half of a request that impersonates and has begun', async () => {
    const waiting: (() => void)[] = [];
    const old = await startWebhook((review, response, request) => {
      const verb = String(review.spec.resourceAttributes?.['verb']);
      const allows = () =>
        answers({ allowed: review.spec.user === 'alice' || verb === 'list' })(review, response, request);
      if (verb.startsWith('impersonate-on:')) waiting.push(allows);
      else allows();
    });
    const renewed = await startWebhook(answers({ allowed: false, denied: true }));
    writeFileSync(file, content(hook('old', kubeconfigOf(old)), rbac));
    const server = await start();
    const asBob = client(server, 'a', { 'impersonate-user': 'bob' });
    const begun = codeOf(asBob, namespaces);
    await eventually('impersonation is decided', () => waiting.length === 1);
    await replace(content(hook('new', kubeconfigOf(renewed)), rbac));
    await follow(server);
    waiting[0]!();
    expect(await begun).toBe(200);
    expect(old.reviews.map(({ spec }) => [spec.user, spec.resourceAttributes?.['verb']])).toEqual([
      ['alice', 'impersonate-on:user-info:list'],
      ['alice', 'impersonate:user-info'],
      ['bob', 'list'],
    ]);
    expect(await codeOf(asBob, namespaces)).toBe(403);
    await eventually('the old connection is closed', async () => (await old.connections()) === 0);
  });
});

/** Leaves the checks of the file to the test, so that it knows what each of them sees. */
const withoutPolls: Clock = {
  ...systemClock,
  after: (delayMs, task) => (delayMs === 2_500 ? { cancel: () => undefined } : systemClock.after(delayMs, task)),
};

it('a file that is rewritten 200 times under load decides no request while it is half-written', async () => {
  // Denies mallory, whom RBAC would allow; allows alice, whom RBAC does not. Each version needs both webhooks.
  const denies = await startWebhook(decides([], ['mallory']));
  const allows = await startWebhook(decides(['alice']));
  const [denying, allowing] = [kubeconfigOf(denies), kubeconfigOf(allows)];
  const version = (n: number) => {
    const conditions = { matchConditions: [{ expression: `request.user != 'user-${n}'` }] };
    return content(hook(`denies-${n % 7}`, denying, conditions), rbac, hook(`allows-${n % 5}`, allowing, conditions));
  };
  writeFileSync(file, version(0));
  const server = await start({ clock: withoutPolls });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }];
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const bound = await server.admin.post(bindings, { metadata: { name: 'mallory' }, roleRef, subjects });
  expect(bound.code).toBe(201);

  let isDone = false;
  const seen: Record<string, number> = {};
  const load = async (token: string, lane: number) => {
    const asked = client(server, token);
    for (let n = 0; !isDone; n++) {
      // Half of the decisions are cached.
      const path = n % 2 === 0 ? namespaces : `${namespaces}/default/configmaps/none-${lane}-${n}`;
      const { code } = await asked.get(path);
      const outcome = `${token} ${code === 404 ? 200 : code}`;
      seen[outcome] = (seen[outcome] ?? 0) + 1;
    }
  };
  const lanes = ['a', 'm', 'a', 'm', 'a', 'm'].map((token, lane) => load(token, lane));

  let used = version(0);
  for (let n = 1; n <= 200; n++) {
    const whole = version(n);
    const cut = 1 + ((n * 7919) % (whole.length - 1));
    if (n % 4 === 0) {
      // Truncated: stays as it is.
      await writeFile(file, whole.slice(0, cut));
      await follow(server);
    } else if (n % 4 === 1) {
      // Half-written: complete before the next check.
      await writeFile(file, beginningOf(whole, n % 8 === 1 ? 1 : 2));
      await fileOf(server).refresh();
      await writeFile(file, whole);
      used = whole;
    } else if (n % 4 === 2) {
      await writeFile(file, n % 8 === 2 ? whole.replace('30s', '31s') : content(rbac, { type: 'Node' }));
      await follow(server);
    } else {
      await replace(whole);
      used = whole;
    }
    if (used === whole) await follow(server);
    const names = fileOf(server)
      .current()
      .map(({ name }) => name);
    expect(names).toEqual(
      (JSON.parse(used) as { authorizers: { name: string }[] }).authorizers.map(({ name }) => name),
    );
  }
  isDone = true;
  await Promise.all(lanes);
  expect(Object.keys(seen).sort()).toEqual(['a 200', 'm 403']);
  const { text } = await server.admin.get('/metrics');
  expect(text).toMatch(/automatic_reloads_total\{status="success",.*\} 100$/m);
  await eventually('old connections are closed', async () => (await denies.connections()) <= 10);
});

/** Returns the first authorizers of a version. With two of them it is valid, but allows alice nothing. */
function beginningOf(text: string, authorizersMax: number): string {
  const whole = JSON.parse(text) as { authorizers: readonly object[] };
  return JSON.stringify({ ...whole, authorizers: whole.authorizers.slice(0, authorizersMax) });
}
