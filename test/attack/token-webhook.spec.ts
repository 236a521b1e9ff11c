import type { ServerResponse } from 'node:http';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { misbehaviours, text, type Misbehaviour } from '../harness/misbehaviours.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { acceptAll, respond, WebhookServer } from '../harness/token-webhook.js';

/** Webhooks that misbehave: a token is then rejected with 401, and the server goes on. */
let webhook: WebhookServer;
let files: ClientKubeconfigs;
let server: TestServer;
const errors: string[] = [];
/** Shortens the delays between retries. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs >= 500 && delayMs < 2100 ? delayMs / 50 : delayMs, task),
};
const logger: Logger = { ...silentLogger, error: (message) => void errors.push(message) };

beforeAll(async () => {
  files = new ClientKubeconfigs();
  webhook = await WebhookServer.start();
  const tokenWebhook = { configFile: files.kubeconfig(webhook, {}) };
  const config = { authentication: { tokenWebhook } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, logger, clock });
});
beforeEach(() => void errors.splice(0));
afterAll(async () => {
  await server.stop();
  await webhook.stop();
  files.remove();
});

const user = { username: 'eve', groups: ['system:masters'] };
const accepted = { authenticated: true, user };
const status = (value: unknown, more?: Record<string, unknown>) => (response: ServerResponse) =>
  respond(response, value, more);
const review = (value: unknown) =>
  JSON.stringify({ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1beta1', status: value });

const rows: readonly (readonly [string, Misbehaviour<unknown>])[] = [
  ['no status', status(undefined)],
  ['a null status', status(null)],
  ['a user that is not authenticated', status({ authenticated: false, user })],
  ['a text as authenticated', status({ ...accepted, authenticated: 'true' })],
  ['another kind', status(accepted, { kind: 'SubjectAccessReview' })],
  ['another version', status(accepted, { apiVersion: 'authentication.k8s.io/v1' })],
  ['another group', status(accepted, { apiVersion: 'v1beta1' })],
  ['other audiences', status({ ...accepted, audiences: ['other'] })],
  ['no username', status({ authenticated: true, user: { groups: ['system:masters'] } })],
  ['a property of prototypes', text(review(accepted).replace('"groups"', '"__proto__":{"polluted":true},"groups"'))],
  ...misbehaviours(() => review(accepted)),
];

it.each(rows)('%s does not authenticate', async (title, misbehave) => {
  const token = Buffer.from(title).toString('base64url');
  const before = webhook.requests.length;
  webhook.answer = (asked, response, request) => {
    if (!request.url?.startsWith('/authenticate?')) acceptAll(asked, response, request);
    else misbehave(response, request, asked);
  };
  const answer = await server.client({ token }).get('/api/v1/namespaces');
  expect(answer.code).toBe(401);
  expect(answer.body).toMatchObject({ kind: 'Status', reason: 'Unauthorized' });
  expect(webhook.requests.slice(before).every(({ url }) => url === '/authenticate?timeout=30s')).toBe(true);
  expect(webhook.requests.length).toBeGreaterThan(before);
  expect(errors).toEqual([]);
  expect({}).not.toHaveProperty('polluted');
  expect((await server.admin.get('/readyz')).code).toBe(200);
});

it('extra keys named like properties of objects are ordinary ones', async () => {
  const extra = { constructor: ['a'], toString: ['b'], hasOwnProperty: ['c'] };
  webhook.answer = (_token, response) => respond(response, { authenticated: true, user: { username: 'eve', extra } });
  const { code: answered, body } = await server
    .client({ token: 'extra-keys' })
    .post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect(answered).toBe(201);
  expect(body.status.userInfo.extra).toEqual(extra);
});

it('a token of nearly 1 MiB is sent as it is', async () => {
  const token = 'x'.repeat(1_000_000);
  webhook.answer = (asked, response) =>
    respond(response, { authenticated: asked === token, user: { username: 'eve' } });
  const { code: answered } = await server
    .client({ token })
    .post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect(answered).toBe(201);
});

describe('a server that is not the webhook', () => {
  it.each([
    ['with a certificate of another CA', (): Record<string, unknown> => ({ 'certificate-authority': 'other.crt' })],
    ['with a certificate for another name', () => ({ 'tls-server-name': 'webhook.example.com' })],
  ])('%s gets no token', async (_title, cluster) => {
    const another = await makeEphemeralPki({ clock: systemClock, hostNames: ['another'] });
    files.write('other.crt', another.authority.current().pem);
    const before = webhook.requests.length;
    webhook.answer = acceptAll;
    const tokenWebhook = { configFile: files.kubeconfig(webhook, {}, cluster()) };
    const config = { authentication: { tokenWebhook } };
    const other = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, logger });
    try {
      expect((await other.client({ token: 'a-token' }).get('/api/v1/namespaces')).code).toBe(401);
    } finally {
      await other.stop();
    }
    expect(webhook.requests).toHaveLength(before);
  });
});
