import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { answers, AuthorizationWebhookServer, type SubjectAccessReview } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import { attributesOf, openWebhookAuthorizer, type WebhookAuthorizerWorld } from '../harness/webhook-authorizers.js';

/** Webhooks that misbehave: failurePolicy decides, and requests that do not need the webhook do not wait. */
let server: AuthorizationWebhookServer;
let files: ClientKubeconfigs;
let denying: WebhookAuthorizerWorld;
let passing: WebhookAuthorizerWorld;
/** Shortens the delays between retries. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs >= 500 && delayMs < 2100 ? delayMs / 50 : delayMs, task),
};

beforeAll(async () => {
  files = new ClientKubeconfigs();
  server = await AuthorizationWebhookServer.start();
  const kubeconfigFile = files.kubeconfig(server, { token: 'of-the-server' });
  denying = await openWebhookAuthorizer({ kubeconfigFile, clock, failurePolicy: 'Deny' });
  passing = await openWebhookAuthorizer({ kubeconfigFile, clock, failurePolicy: 'NoOpinion' });
});
afterAll(async () => {
  denying.webhook.close();
  passing.webhook.close();
  await server.stop();
  files.remove();
});

const review = (status: unknown) =>
  JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status });
const allowed = { allowed: true };
type Misbehave = (response: ServerResponse, request: IncomingMessage, asked: SubjectAccessReview) => void;
const text =
  (body: string | Buffer): Misbehave =>
  (response) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
const status =
  (value: unknown, more?: Record<string, unknown>): Misbehave =>
  (response, request, asked) =>
    answers(value, more)(asked, response, request);
const code =
  (value: number, headers = {}): Misbehave =>
  (response) =>
    void response.writeHead(value, headers).end(review(allowed));

/** Sends pieces until the connection is cut, at most 100 MiB. */
const endless: Misbehave = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write('{"status":{"allowed":true},"padding":"');
  let left = 1600;
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write('x'.repeat(65_536))) return;
  };
  response.on('drain', more);
  more();
};

const rows: readonly (readonly [string, Misbehave])[] = [
  ['no status', status(undefined)],
  ['a null status', status(null)],
  ['a text as allowed', status({ allowed: 'true' })],
  ['a number as allowed', status({ allowed: 1 })],
  ['another kind', status(allowed, { kind: 'TokenReview' })],
  ['another version', status(allowed, { apiVersion: 'authorization.k8s.io/v1beta1' })],
  ['another group', status(allowed, { apiVersion: 'v1' })],
  ['a list', text(`[${review(allowed)}]`)],
  ['an empty body', text('')],
  ['HTML', text('<html><body>200 OK</body></html>')],
  ['bytes that are not UTF-8', text(Buffer.from([0xff, 0xfe, 0x00, 0x7b]))],
  ['two objects', text(review(allowed).repeat(2))],
  ['a property of prototypes', text('{"status":{"__proto__":{"allowed":true,"polluted":true}}}')],
  ['an inherited property as status', text('{"__proto__":{"status":{"allowed":true}}}')],
  ['100,000 nested lists', text(`{"status":${'['.repeat(100_000)}`)],
  ['10 MB', text(review({ ...allowed, padding: 'x'.repeat(10_000_000) }))],
  ['a body without an end', endless],
  [
    'a compressed body',
    (response) => void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(review(allowed))),
  ],
  ...[301, 302, 303, 307, 308].map(
    (value) => [`a redirect with ${value}`, code(value, { Location: '/elsewhere' })] as const,
  ),
  ...[204, 304, 400, 401, 403, 404, 429, 500, 502, 503, 504].map(
    (value) => [`a review with status ${value}`, code(value)] as const,
  ),
  ['a connection that is closed without an answer', (_response, { socket }) => void socket.destroy()],
  ['a connection that is half closed', (_response, { socket }) => void socket.end()],
  [
    'a body that is shorter than its length',
    (response, { socket }) => {
      response.writeHead(200, { 'Content-Length': '1000' }).write(review(allowed));
      socket.end();
    },
  ],
  ['bytes that are not HTTP', (_response, { socket }) => void socket.end('not HTTP\r\n\r\n')],
  ['a head of 1 MB', code(200, { 'X-Padding': 'x'.repeat(1_000_000) })],
];

it.each(rows)('%s follows failurePolicy', async (title, misbehave) => {
  server.answer = (asked, response, request) => {
    if (request.url?.startsWith('/authorize?')) misbehave(response, request, asked);
    else answers(allowed)(asked, response, request);
  };
  const before = server.requests.length;
  const reason = 'the webhook authorizer "policy" could not be asked';
  const attributes = attributesOf({ name: title });
  expect(await denying.webhook.authorize(attributes)).toMatchObject({ decision: 'deny', reason });
  expect(await passing.webhook.authorize(attributes)).toMatchObject({ decision: 'no opinion', reason });
  expect(server.requests.slice(before).every(({ url }) => url === '/authorize?timeout=30s')).toBe(true);
  expect(server.requests.length).toBeGreaterThan(before);
  expect({}).not.toHaveProperty('polluted');
  // The failure is not kept.
  server.answer = answers(allowed);
  expect(await denying.webhook.authorize(attributes)).toEqual({ decision: 'allow', reason: '' });
});

it('no line of the log has credentials or text of an answer', () => {
  const lines = [...denying.lines, ...passing.lines];
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join()).not.toMatch(/of-the-server|not HTTP|padding|"status":\{/i);
});

it('a webhook that hangs holds a bounded number of reviews, and no request that does not need it', async () => {
  const kubeconfigFile = files.kubeconfig(server, { token: 'of-the-server' });
  const limits = { accessReviewsPendingMax: 100 };
  const { webhook } = await openWebhookAuthorizer({
    ...{ kubeconfigFile, clock, limits, failurePolicy: 'Deny' },
    matchConditions: ["request.resourceAttributes.namespace != 'kube-system'"],
  });
  server.answer = answers(allowed);
  const known = attributesOf({ name: 'known' });
  await webhook.authorize(known);
  const held: ServerResponse[] = [];
  server.answer = (_asked, response) => void held.push(response);
  const asked = Array.from({ length: 400 }, (_, n) => webhook.authorize(attributesOf({ name: `new-${n}` })));
  // Decisions without the webhook are no promises: they wait for nothing.
  const atOnce = asked.filter((answer) => !(answer instanceof Promise));
  expect(atOnce).toHaveLength(300);
  expect(webhook.authorize(known)).toMatchObject({ decision: 'allow' });
  expect(webhook.authorize(attributesOf({ namespace: 'kube-system' }))).toMatchObject({ decision: 'no opinion' });
  await eventually('the webhook is asked', () => held.length === 100);
  server.answer = answers(allowed);
  for (const response of held) response.end(review(allowed));
  const decisions = await Promise.all(asked.map(async (answer) => (await answer).decision));
  expect(decisions.filter((decision) => decision === 'allow')).toHaveLength(100);
  expect(decisions.filter((decision) => decision === 'deny')).toHaveLength(300);
  webhook.close();
});

it('a review of 3 MiB is sent as it is, and its decision is found by a short key', async () => {
  const extra = { claims: ['x'.repeat(3 * 1024 * 1024)] };
  const user = { name: 'large', uid: '', groups: [], extra };
  server.answer = ({ spec }, response, request) =>
    answers({ allowed: spec.extra?.['claims']?.[0]?.length === 3 * 1024 * 1024 }, { spec: undefined })(
      { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec },
      response,
      request,
    );
  expect(await denying.webhook.authorize(attributesOf({ user }))).toEqual({ decision: 'allow', reason: '' });
  expect(denying.webhook.authorize(attributesOf({ user }))).toEqual({ decision: 'allow', reason: '' });
});

describe('a server that is not the webhook', () => {
  it.each([
    ['with a certificate of another CA', (): Record<string, unknown> => ({ 'certificate-authority': 'other.crt' })],
    ['with a certificate for another name', () => ({ 'tls-server-name': 'webhook.example.com' })],
  ])('%s gets no review', async (_title, cluster) => {
    const another = await makeEphemeralPki({ clock: systemClock, hostNames: ['another'] });
    files.write('other.crt', another.authority.current().pem);
    server.answer = answers(allowed);
    const before = server.requests.length;
    const kubeconfigFile = files.kubeconfig(server, { token: 'of-the-server' }, cluster());
    const { webhook } = await openWebhookAuthorizer({ kubeconfigFile, clock });
    expect(await webhook.authorize(attributesOf())).toMatchObject({ decision: 'deny' });
    webhook.close();
    expect(server.requests).toHaveLength(before);
  });
});
