import type { ServerResponse } from 'node:http';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { answers, AuthorizationWebhookServer, type SubjectAccessReview } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import { misbehaviours, text, webhookText, type Misbehaviour } from '../harness/misbehaviours.js';
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
const status =
  (value: unknown, more?: Record<string, unknown>): Misbehaviour<SubjectAccessReview> =>
  (response, request, asked) =>
    answers(value, more)(asked, response, request);

const rows: readonly (readonly [string, Misbehaviour<SubjectAccessReview>])[] = [
  ['no status', status(undefined)],
  ['a null status', status(null)],
  ['a text as allowed', status({ allowed: 'true' })],
  ['a number as allowed', status({ allowed: 1 })],
  ['another kind', status(allowed, { kind: 'TokenReview' })],
  ['another version', status(allowed, { apiVersion: 'authorization.k8s.io/v1beta1' })],
  ['another group', status(allowed, { apiVersion: 'v1' })],
  ['a property of prototypes', text('{"status":{"__proto__":{"allowed":true,"polluted":true}}}')],
  ['an inherited property as status', text('{"__proto__":{"status":{"allowed":true}}}')],
  ...misbehaviours<SubjectAccessReview>(() => review(allowed)),
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
  expect(lines.join()).not.toContain(webhookText);
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
