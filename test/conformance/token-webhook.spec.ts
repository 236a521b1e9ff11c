import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { acceptAll, respond, WebhookServer } from '../harness/token-webhook.js';

let webhook: WebhookServer;
let files: ClientKubeconfigs;
const running: TestServer[] = [];
/** Time by which the clock of the server is ahead. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
const lines: string[] = [];
const log = (message: string, fields?: Record<string, unknown>) =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };

beforeAll(() => (files = new ClientKubeconfigs()));
beforeEach(async () => {
  webhook = await WebhookServer.start();
  lines.splice(0);
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await webhook.stop();
});
afterAll(() => files.remove());

interface Options {
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
  readonly authentication?: ConfigOverrides['authentication'];
  readonly version?: 'v1' | 'v1beta1';
}

async function start({ user = {}, cluster, authentication, version }: Options = {}): Promise<TestServer> {
  const configFile = files.kubeconfig(webhook, user, cluster);
  const tokenWebhook = { configFile, ...(version && { version }) };
  // More requests than the queues of one user hold.
  const flow = { priorityAndFairness: false, requestsInFlightMax: 20_000, mutatingRequestsInFlightMax: 20_000 };
  const config = { authentication: { ...authentication, tokenWebhook }, flow };
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, clock, logger });
  running.push(server);
  return server;
}

const reviewsPath = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const selfReview = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };

/** The user of a request, or the code of its rejection. */
async function userOf(client: HttpClient): Promise<unknown> {
  const { code, body } = await client.post(reviewsPath, selfReview);
  return code === 201 ? (body.status.userInfo as unknown) : code;
}
const nameOf = async (client: HttpClient): Promise<unknown> => {
  const user = await userOf(client);
  return typeof user === 'object' ? (user as { username: string }).username : user;
};
const issuer = 'https://kubernetes.default.svc';

describe.each<[Protocol, number]>([
  ['http/1.1', 100],
  ['h2', 1000],
])('with %s', (protocol, count) => {
  it('the user is that of the answer', async () => {
    const server = await start();
    const user = { username: 'eve', uid: '7', groups: ['dev'], extra: { 'example.com/scope': ['x'] } };
    webhook.answer = (_token, response) => respond(response, { authenticated: true, user });
    expect(await userOf(server.client({ protocol, token: 'a-token' }))).toEqual({
      ...user,
      groups: ['dev', 'system:authenticated'],
    });
  });

  it('the webhook gets a TokenReview of v1beta1 at the path of server', async () => {
    const server = await start({ user: { token: 'of-keelson' } });
    await nameOf(server.client({ protocol, token: 'a-token' }));
    const [request] = webhook.requests;
    expect(request?.review).toEqual({
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1beta1',
      metadata: {},
      spec: { token: 'a-token', audiences: [issuer] },
      status: { user: {} },
    });
    expect(request).toMatchObject({ method: 'POST', url: '/authenticate?timeout=30s' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer of-keelson',
    });
  });

  it('a token that the webhook does not accept is rejected, even if anonymous requests are allowed', async () => {
    const server = await start();
    expect(await nameOf(server.client({ protocol, token: 'a-token' }))).toBe(401);
    expect((await server.client({ protocol }).get('/livez')).code).toBe(200);
    expect((await server.client({ protocol, token: 'a-token' }).get('/livez')).code).toBe(401);
    expect(webhook.asked('a-token')).toBe(1);
  });

  it('a webhook that is down rejects its tokens, and no others', async () => {
    const tokenAuthFile = files.write('tokens.csv', 'static,ann,1\n');
    const server = await start({ authentication: { tokenAuthFile } });
    await webhook.stop();
    expect(await nameOf(server.client({ protocol, token: 'a-token' }))).toBe(401);
    expect(await nameOf(server.client({ protocol, token: 'static' }))).toBe('ann');
    expect((await server.admin.get('/api/v1/namespaces')).code).toBe(200);
    expect(lines.join('\n')).toContain('the token webhook could not be asked');
  });

  it('a webhook that hangs stalls no users of other authenticators', async () => {
    const tokenAuthFile = files.write('tokens.csv', 'static,ann,1\n');
    const server = await start({ authentication: { tokenAuthFile } });
    webhook.answer = () => undefined;
    const client = server.client({ protocol });
    for (let n = 0; n < 20; n++) {
      client.post(reviewsPath, selfReview, { authorization: `Bearer t${n}` }).catch(() => undefined);
    }
    await eventually('the webhook is asked', () => webhook.requests.length === 20);
    expect(await nameOf(server.client({ protocol, token: 'static' }))).toBe('ann');
    expect((await server.admin.get('/api/v1/namespaces')).code).toBe(200);
    expect(await nameOf(server.client({ protocol }))).toBe(403);
    client.close();
    await eventually('the calls are cancelled', () => webhook.cancelled === 20);
    expect(lines.join()).not.toContain('no answer in 30 s');
  });

  it(`${count} requests with one token at the same time make one call`, async () => {
    const server = await start();
    let release = () => undefined as void;
    webhook.answer = (token, response, request) => void (release = () => acceptAll(token, response, request));
    const clients = Array.from({ length: 8 }, () => server.client({ protocol, token: 'a-token' }));
    const names = Array.from({ length: count }, (_, n) => nameOf(clients[n % clients.length]!));
    // Each request waits for the cache of all tokens and for that of the webhook.
    const waiting = `authentication_token_cache_active_fetch_count{status="blocked"} ${2 * count}`;
    await eventually('all requests wait', async () => (await server.admin.get('/metrics')).text.includes(waiting));
    release();
    expect(new Set(await Promise.all(names))).toEqual(new Set(['a-token']));
    expect(webhook.requests).toHaveLength(1);
  });
});

it('--authentication-token-webhook-version=v1 sends and expects v1', async () => {
  const server = await start({ version: 'v1' });
  webhook.answer = (token, response) => {
    const apiVersion = token === 'old' ? 'authentication.k8s.io/v1beta1' : 'authentication.k8s.io/v1';
    respond(response, { authenticated: true, user: { username: token } }, { apiVersion });
  };
  expect(await nameOf(server.client({ token: 'new' }))).toBe('new');
  expect(await nameOf(server.client({ token: 'old' }))).toBe(401);
  expect(webhook.reviews.map(({ apiVersion }) => apiVersion)).toEqual(Array(2).fill('authentication.k8s.io/v1'));
});

it('--api-audiences are the audiences of the TokenReview', async () => {
  const server = await start({ authentication: { apiAudiences: ['a', 'b'], serviceAccount: { issuers: [issuer] } } });
  await nameOf(server.client({ token: 't' }));
  expect(webhook.reviews[0]?.spec.audiences).toEqual(['a', 'b']);
});

it('tokens that another authenticator accepts are not sent to the webhook', async () => {
  const tokenAuthFile = files.write('tokens.csv', 'static,ann,1\n');
  const server = await start({ authentication: { tokenAuthFile } });
  await server.admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  const { body } = await server.admin.post('/api/v1/namespaces/default/serviceaccounts/robot/token', {});
  const token = body.status.token as string;
  expect(await nameOf(server.client({ token: 'static' }))).toBe('ann');
  expect(await nameOf(server.client({ token }))).toBe('system:serviceaccount:default:robot');
  expect(await nameOf(server.client({ ...server.keelson.client, token: 'other' }))).toBe('kubernetes-admin');
  expect(await nameOf(server.client({ headers: { authorization: 'Basic eDp5' } }))).toBe(403);
  expect(webhook.requests).toEqual([]);
});

it('a token that looks like one of a service account and is not valid is sent to the webhook', async () => {
  const server = await start();
  const { body } = await server.admin.post('/api/v1/namespaces/default/serviceaccounts/default/token', {});
  const forged = `${(body.status.token as string).slice(0, -8)}AAAAAAAA`;
  webhook.answer = (_token, response) => respond(response, { authenticated: true, user: { username: 'eve' } });
  expect(await nameOf(server.client({ token: forged }))).toBe('eve');
  expect(webhook.asked(forged)).toBe(1);
});

it('results are cached for --authentication-token-webhook-cache-ttl', async () => {
  const server = await start();
  webhook.answer = (token, response) =>
    respond(response, { authenticated: token === 'good', user: { username: token } });
  const [good, bad] = [server.client({ token: 'good' }), server.client({ token: 'bad' })];
  const both = async () => [await nameOf(good), await nameOf(bad)];
  expect(await both()).toEqual(['good', 401]);
  aheadMs += 60_000;
  expect(await both()).toEqual(['good', 401]);
  expect([webhook.asked('good'), webhook.asked('bad')]).toEqual([1, 1]);
  aheadMs += 61_000;
  expect(await both()).toEqual(['good', 401]);
  expect([webhook.asked('good'), webhook.asked('bad')]).toEqual([2, 2]);
});

describe('a TokenReview of this server', () => {
  const review = async (server: TestServer, spec: { token: string; audiences?: string[] }) => {
    const body = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec };
    return (await server.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', body)).body.status as unknown;
  };

  it('asks the webhook with its audiences, and answers those in both', async () => {
    const server = await start();
    webhook.answer = (token, response) =>
      respond(response, { authenticated: true, user: { username: token }, audiences: ['b', 'c'] });
    const user = { username: 't', groups: ['system:authenticated'] };
    expect(await review(server, { token: 't', audiences: ['a', 'b'] })).toEqual({
      authenticated: true,
      user,
      audiences: ['b'],
    });
    expect(webhook.reviews[0]?.spec.audiences).toEqual(['a', 'b']);
  });

  it('for an audience that the webhook does not answer is not authenticated', async () => {
    const server = await start();
    webhook.answer = acceptAll;
    expect(await review(server, { token: 't', audiences: ['other'] })).toEqual({
      user: {},
      error: 'invalid bearer token',
    });
    expect(await review(server, { token: 't' })).toMatchObject({ authenticated: true, audiences: [issuer] });
  });

  it('has the error of the webhook', async () => {
    const server = await start();
    webhook.answer = (_token, response) => respond(response, { error: 'expired yesterday' });
    expect(await review(server, { token: 't' })).toEqual({
      user: {},
      error: '[invalid bearer token, expired yesterday]',
    });
  });

  it('does not show why the webhook could not be asked', async () => {
    const server = await start();
    await webhook.stop();
    expect(await review(server, { token: 't' })).toEqual({
      user: {},
      error: '[invalid bearer token, the token webhook could not be asked]',
    });
  });
});

describe('credentials for the webhook', () => {
  /** Asks the webhook for a new token. */
  let asked = 0;
  const ask = async (server: TestServer) => {
    await nameOf(server.client({ token: `token-${++asked}` }));
    return webhook.requests.at(-1);
  };
  /** Replaces a file at once, as an update of a mounted Secret does. */
  const replace = async (path: string, content: string) => {
    await writeFile(`${path}.next`, content);
    await rename(`${path}.next`, path);
  };

  it('can be a client certificate as data', async () => {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const pair = await pki.issueClient({ commonName: 'anna', organizations: [] });
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const server = await start({
      user: { 'client-certificate-data': base64(pair.certificate), 'client-key-data': base64(pair.key) },
    });
    expect(await ask(server)).toMatchObject({ clientName: 'anna' });
  });

  it('can be a client certificate in files, which are read again when they change', async () => {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const paths = [join(files.directory, 'client.crt'), join(files.directory, 'client.key')] as const;
    const write = async (commonName: string) => {
      const pair = await pki.issueClient({ commonName, organizations: [] });
      await replace(paths[0], pair.certificate);
      await replace(paths[1], pair.key);
    };
    await write('anna');
    const server = await start({ user: { 'client-certificate': paths[0], 'client-key': paths[1] } });
    expect(await ask(server)).toMatchObject({ clientName: 'anna' });
    await write('bert');
    await eventually('the new certificate is used', async () => (await ask(server))?.clientName === 'bert');
  });

  it('can be a token in a file, which is read again when it changes', async () => {
    const tokenFile = files.write('token', 'one\n');
    const server = await start({ user: { tokenFile } });
    expect((await ask(server))?.headers.authorization).toBe('Bearer one');
    await replace(tokenFile, 'two\n');
    await eventually('the new token is used', async () => {
      return (await ask(server))?.headers.authorization === 'Bearer two';
    });
  });

  it('can be those of a credential plug-in', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const credential = { apiVersion, kind: 'ExecCredential', status: { token: 'of-plug-in' } };
    const command = files.write('plug-in', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, 0o700);
    const server = await start({ user: { exec: { apiVersion, command, interactiveMode: 'Never' } } });
    expect((await ask(server))?.headers.authorization).toBe('Bearer of-plug-in');
  });

  it('of a plug-in that fails reject its tokens', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const server = await start({
      user: { exec: { apiVersion, command: '/does/not/exist', interactiveMode: 'Never' } },
    });
    expect(await nameOf(server.client({ token: 'a-token' }))).toBe(401);
    expect(lines.join('\n')).toContain('credential plug-in /does/not/exist');
  });
});

it('no metric and no line of the log contains a token', async () => {
  const server = await start({ user: { token: 'secret-of-keelson' } });
  webhook.answer = (token, response) => {
    if (token === 'secret-broken') response.end(`{"${token}"`);
    else if (token === 'secret-bad') respond(response, { error: `bad token ${token}` });
    else respond(response, { authenticated: true, user: { username: 'eve' } });
  };
  expect(await nameOf(server.client({ token: 'secret-good' }))).toBe('eve');
  expect(await nameOf(server.client({ token: 'secret-good' }))).toBe('eve');
  expect(await nameOf(server.client({ token: 'secret-bad' }))).toBe(401);
  expect(await nameOf(server.client({ token: 'secret-broken' }))).toBe(401);
  const { text } = await server.admin.get('/metrics');
  expect(text).toContain('authentication_token_cache_request_total{status="hit"} 1');
  expect(text).toContain('authentication_token_cache_fetch_total{status="error"} 2');
  expect(text).toContain('authentication_token_cache_request_duration_seconds_count{status="miss"} 6');
  expect(text).toContain('apiserver_webhooks_x509_missing_san_total 0');
  expect(text).toContain('apiserver_webhooks_x509_insecure_sha1_total 0');
  expect(text).not.toContain('secret-');
  expect(lines.join('\n')).toContain('the token webhook could not be asked');
  expect(lines.join('\n')).not.toContain('secret-');
});
