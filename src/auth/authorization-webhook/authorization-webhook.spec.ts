import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, AuthorizationWebhookServer } from '../../../test/harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../../../test/harness/client-kubeconfigs.js';
import { eventually } from '../../../test/harness/eventually.js';
import { RetryClock } from '../../../test/harness/retry-clock.js';
import { attributesOf, openWebhookAuthorizer } from '../../../test/harness/webhook-authorizers.js';
import { parseLabelSelector } from '../../machinery/label-selector-parser.js';
import type { Authorization, AuthorizationAttributes } from '../authorizer.js';

let server: AuthorizationWebhookServer;
let files: ClientKubeconfigs;
const opened: { close(): void }[] = [];
beforeAll(() => (files = new ClientKubeconfigs()));
beforeEach(async () => (server = await AuthorizationWebhookServer.start()));
afterEach(async () => {
  for (const one of opened.splice(0)) one.close();
  await server.stop();
});
afterAll(() => files.remove());

async function open(options: Partial<Parameters<typeof openWebhookAuthorizer>[0]> = {}) {
  const clock = new RetryClock(5_000);
  const kubeconfigFile = files.kubeconfig(server, { token: 'of-the-server' });
  const world = await openWebhookAuthorizer({ kubeconfigFile, clock, ...options });
  opened.push(world.webhook);
  const ask = async (attributes: Partial<AuthorizationAttributes> = {}) =>
    shown(await world.webhook.authorize(attributesOf(attributes)));
  const named = (name: string) => ask({ name });
  return { ...world, clock, ask, named };
}

const shown = ({ decision, reason }: Authorization) => (reason === '' ? decision : `${decision}: ${reason}`);
const failure = 'the webhook authorizer "policy" could not be asked';
const conditionFailure = 'a match condition of the webhook authorizer "policy" failed';

describe('the decision', () => {
  it.each<[string, object, string]>([
    ['is allow for allowed', { allowed: true }, 'allow'],
    ['has the reason of the webhook', { allowed: true, reason: 'by rule 7' }, 'allow: by rule 7'],
    ['is deny for denied', { allowed: false, denied: true, reason: 'frozen' }, 'deny: frozen'],
    ['is no opinion for neither', { allowed: false }, 'no opinion'],
    ['has the reason for no opinion', { allowed: false, reason: 'unknown' }, 'no opinion: unknown'],
    ['is deny for both', { allowed: true, denied: true, reason: 'both' }, 'deny: both'],
    ['does not depend on evaluationError', { allowed: true, evaluationError: 'x' }, 'allow'],
    ['has at most 10,000 characters of the reason', { allowed: true, reason: 'r'.repeat(20_000) }, `allow: ${'r'.repeat(10_000)}`], // prettier-ignore
  ])('%s', async (_title, status, expected) => {
    const { ask } = await open();
    server.answer = answers(status);
    expect(await ask()).toBe(expected);
  });

  it('of an answer that allows and denies is an error, and logged', async () => {
    const { webhook, lines } = await open();
    server.answer = answers({ allowed: true, denied: true, reason: 'r' });
    expect(await webhook.authorize(attributesOf())).toEqual({
      decision: 'deny',
      reason: 'r',
      evaluationError: 'the webhook authorizer "policy" allowed and denied',
    });
    expect(lines).toEqual([expect.stringContaining('contradicts itself')]);
  });
});

describe('a request', () => {
  it('has the credentials of the kubeconfig, the version and the timeout', async () => {
    const { ask } = await open({ timeoutMs: 2_500, clock: new RetryClock(2_000) });
    await ask();
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/authorize?timeout=2.5s',
      headers: { authorization: 'Bearer of-the-server', 'content-type': 'application/json' },
      review: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: { user: 'eve' } },
    });
  });

  it('can be of v1beta1', async () => {
    const { ask } = await open({ subjectAccessReviewVersion: 'v1beta1' });
    server.answer = answers({ allowed: true });
    expect(await ask()).toBe('allow');
    expect(server.reviews[0]).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1beta1',
      spec: { group: ['system:authenticated'] },
    });
  });

  it('has the group of the naming profile', async () => {
    const { ask } = await open({ profile: 'svc' });
    server.answer = answers({ allowed: true });
    expect(await ask()).toBe('allow');
    expect(server.reviews[0]?.apiVersion).toMatch(/^authorization\.(?!k8s).*\/v1$/);
  });

  it('that is repeated after the answer 500 gets the second answer', async () => {
    const { ask, clock, counts } = await open();
    let left = 1;
    server.answer = (review, response, request) => {
      if (left-- > 0) response.writeHead(500).end();
      else answers({ allowed: true })(review, response, request);
    };
    expect(await ask()).toBe('allow');
    expect(clock.delays).toEqual([500]);
    expect(counts()).toEqual({
      'webhook_evaluations_total error': 1,
      'webhook_evaluations_total success': 1,
      'webhook_duration_seconds error': 1,
      'webhook_duration_seconds success': 1,
    });
  });
});

describe('a failed call', () => {
  it('denies with failurePolicy Deny', async () => {
    const { ask, counts, lines } = await open({ failurePolicy: 'Deny' });
    server.answer = (_review, response) => void response.writeHead(403).end();
    expect(await ask()).toBe(`deny: ${failure}`);
    expect(counts()).toEqual({ 'webhook_evaluations_total error': 1, 'webhook_duration_seconds error': 1 });
    expect(lines).toEqual([expect.stringContaining(`${failure}, so its requests are denied (403); check it`)]);
    expect(lines[0]).toContain('"error":"it answered with status 403"');
  });

  it('has no opinion with failurePolicy NoOpinion', async () => {
    const { ask, counts, lines } = await open({ failurePolicy: 'NoOpinion' });
    server.answer = (_review, response) => void response.writeHead(403).end();
    expect(await ask()).toBe(`no opinion: ${failure}`);
    expect(counts()).toMatchObject({ 'webhook_evaluations_fail_open_total error': 1 });
    expect(lines[0]).toContain('so the next authorizer decides');
  });

  it('is an error of the decision', async () => {
    const { webhook } = await open();
    await server.stop();
    expect(await webhook.authorize(attributesOf())).toMatchObject({ evaluationError: failure });
  });

  it('is not cached', async () => {
    const { ask } = await open();
    server.answer = (_review, response) => void response.writeHead(403).end();
    await ask();
    server.answer = answers({ allowed: true });
    expect(await ask()).toBe('allow');
  });

  it('ends after the timeout and is not repeated', async () => {
    const { ask, clock, counts } = await open({ failurePolicy: 'NoOpinion', timeoutMs: 6_000 });
    server.answer = (_review, response) => void response.write('{');
    const result = ask();
    await eventually('the webhook is asked', () => server.requests.length === 1);
    clock.advance(6_000);
    expect(await result).toBe(`no opinion: ${failure}`);
    expect(server.requests).toHaveLength(1);
    expect(counts()).toEqual({
      'webhook_evaluations_total timeout': 1,
      'webhook_duration_seconds timeout': 1,
      'webhook_evaluations_fail_open_total timeout': 1,
    });
  });

  it('ends after 30 s with its retries', async () => {
    const { ask, clock, lines } = await open();
    server.answer = (_review, response) => void response.writeHead(503, { 'Retry-After': '29' }).end();
    const result = ask();
    const waits = (count: number) => () => clock.waits.filter((ms) => ms === 29_000).length === count;
    await eventually('the call waits for its retry', waits(1));
    clock.advance(29_000);
    await eventually('the call waits for another retry', waits(2));
    clock.advance(1_000);
    expect(await result).toBe(`deny: ${failure}`);
    expect(lines.join()).toContain('there was no answer in 30 s');
  });

  it('to a webhook that is down fails at once', async () => {
    const { ask, lines } = await open();
    await server.stop();
    expect(await ask()).toBe(`deny: ${failure}`);
    expect(lines.join()).toContain('nothing listens there');
  });

  it('is logged once in 10 s, without credentials', async () => {
    const { named, clock, lines } = await open();
    server.answer = (_review, response) => void response.writeHead(400).end('secret');
    await named('a');
    await named('b');
    expect(lines).toHaveLength(1);
    clock.advance(10_000);
    await named('c');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('"failures":2');
    expect(lines.join()).not.toMatch(/secret|of-the-server/);
  });

  it('of a malformed answer is an error', async () => {
    const { ask, counts, lines } = await open({ failurePolicy: 'NoOpinion' });
    server.answer = (_review, response) => void response.end('{"allowed":true}');
    expect(await ask()).toBe(`no opinion: ${failure}`);
    expect(counts()).toMatchObject({ 'webhook_evaluations_total error': 1 });
    expect(lines.join()).toContain('its answer is not a SubjectAccessReview: status is required');
  });

  it('of an answer beyond the limit is an error', async () => {
    const { ask, lines } = await open({ limits: { accessReviewAnswerBytesMax: 1000 } });
    server.answer = answers({ allowed: true, reason: 'x'.repeat(1000) });
    expect(await ask()).toBe(`deny: ${failure}`);
    expect(lines.join()).toContain('the answer has more than 1000 bytes');
  });
});

describe('decisions', () => {
  it('that allow are kept for authorizedTTL, others for unauthorizedTTL', async () => {
    const { ask, clock } = await open({ authorizedTtlMs: 60_000, unauthorizedTtlMs: 20_000 });
    const statusOf = { get: { allowed: true }, list: { denied: true }, watch: { allowed: false } };
    server.answer = (review, response, request) => {
      const verb = review.spec.resourceAttributes?.['verb'] as keyof typeof statusOf;
      answers(statusOf[verb])(review, response, request);
    };
    const all = () => Promise.all(['get', 'list', 'watch'].map((verb) => ask({ verb })));
    expect(await all()).toEqual(['allow', 'deny', 'no opinion']);
    expect(server.requests).toHaveLength(3);
    clock.advance(19_999);
    expect(await all()).toEqual(['allow', 'deny', 'no opinion']);
    expect(server.requests).toHaveLength(3);
    clock.advance(1);
    await all();
    expect(server.requests).toHaveLength(5);
    clock.advance(40_000);
    await ask({ verb: 'get' });
    expect(server.requests.at(-1)?.review.spec.resourceAttributes?.['verb']).toBe('get');
  });

  it.each<[string, object, { allowed: number; denied: number }]>([
    ['allowed ones are not kept without cacheAuthorizedRequests', { cacheAuthorizedRequests: false }, { allowed: 2, denied: 1 }], // prettier-ignore
    ['others are not kept without cacheUnauthorizedRequests', { cacheUnauthorizedRequests: false }, { allowed: 1, denied: 2 }], // prettier-ignore
    ['none are kept with times of zero', { authorizedTtlMs: 0, unauthorizedTtlMs: 0 }, { allowed: 2, denied: 2 }],
  ])('%s', async (_title, options, expected) => {
    const { named } = await open(options);
    for (const status of ['allowed', 'denied'] as const) {
      server.answer = answers({ [status]: true });
      const before = server.requests.length;
      await named(status);
      await named(status);
      expect(server.requests.length - before).toBe(expected[status]);
    }
  });

  it('are returned at once if they are kept', async () => {
    const { webhook, ask } = await open();
    server.answer = answers({ allowed: true });
    await ask();
    expect(webhook.authorize(attributesOf())).toEqual({ decision: 'allow', reason: '' });
  });

  it('are those of the same selectors only', async () => {
    const { ask } = await open();
    server.answer = answers({ allowed: true });
    await ask({ labelSelector: parseLabelSelector('team=a') });
    server.answer = answers({ allowed: false });
    expect(await ask({ labelSelector: parseLabelSelector('team=b') })).toBe('no opinion');
    expect(await ask()).toBe('no opinion');
  });

  it('about a name of 10,000 characters are not kept', async () => {
    const { named } = await open();
    for (const name of ['x'.repeat(10_000), 'x'.repeat(9_000)]) {
      await named(name);
      await named(name);
    }
    expect(server.requests).toHaveLength(3);
  });

  it('beyond the number that is kept displace the oldest of their kind', async () => {
    const { named } = await open({ limits: { accessReviewsCachedMax: 2 } });
    server.answer = answers({ allowed: true });
    await named('allowed');
    server.answer = answers({ allowed: false });
    for (const name of ['a', 'b', 'c', 'a']) await named(name);
    expect(server.requests).toHaveLength(5);
    expect(await named('allowed')).toBe('allow');
    expect(server.requests).toHaveLength(5);
  });

  it('beyond the bytes that are kept displace the oldest', async () => {
    const { named } = await open({ limits: { accessReviewsCachedBytesMax: 5_000 } });
    const long = (letter: string) => letter.repeat(4_000);
    for (const name of [long('a'), long('b'), long('a'), 'c', 'c']) await named(name);
    expect(server.requests).toHaveLength(4);
  });
});

describe('requests at the same time', () => {
  const hold = () => {
    const held: (() => void)[] = [];
    server.answer = (review, response, request) =>
      void held.push(() => answers({ allowed: true })(review, response, request));
    const isHeld = (count: number) => eventually('the webhook is asked', () => held.length === count);
    return { held, isHeld, release: () => held.splice(0).forEach((answer) => answer()) };
  };

  it('that are equal make one call', async () => {
    const { ask } = await open();
    const { isHeld, release } = hold();
    const waiting = Array.from({ length: 50 }, () => ask());
    await isHeld(1);
    release();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['allow']));
    expect(server.requests).toHaveLength(1);
  });

  it('beyond the number that may wait follow failurePolicy at once', async () => {
    const { named, lines, counts } = await open({
      failurePolicy: 'NoOpinion',
      limits: { accessReviewsPendingMax: 2 },
    });
    const { isHeld, release } = hold();
    const waiting = [named('a'), named('b'), named('a')];
    await isHeld(2);
    expect(await named('c')).toBe(`no opinion: ${failure}`);
    expect(counts()).toEqual({ 'webhook_evaluations_fail_open_total error': 1 });
    expect(lines.join()).toContain('more than 2 reviews');
    release();
    expect(await Promise.all(waiting)).toEqual(['allow', 'allow', 'allow']);
    server.answer = answers({ allowed: true });
    expect(await named('c')).toBe('allow');
  });

  it('beyond the bytes that may wait follow failurePolicy at once', async () => {
    const { named } = await open({ limits: { accessReviewsPendingBytesMax: 2_000 } });
    const { isHeld, release } = hold();
    const waiting = named('a'.repeat(1_000));
    await isHeld(1);
    expect(await named('b'.repeat(1_000))).toBe(`deny: ${failure}`);
    release();
    expect(await waiting).toBe('allow');
  });

  it('whose decisions are kept do not wait for a webhook that hangs', async () => {
    const { named } = await open();
    server.answer = answers({ allowed: true });
    await named('known');
    const { isHeld, release } = hold();
    const waiting = named('new');
    await isHeld(1);
    expect(await named('known')).toBe('allow');
    release();
    expect(await waiting).toBe('allow');
  });
});

describe('match conditions', () => {
  const inShop = "request.resourceAttributes.namespace == 'shop'";
  const isResource = 'has(request.resourceAttributes)';
  const failing = "request.extra['absent'][0] == 'x'";

  it.each<[string, string[], string, number]>([
    ['that are all true call the webhook', [isResource, inShop, "request.user == 'eve'"], 'allow', 1],
    ['with one false skip the webhook', [isResource, "request.user == 'adam'", inShop], 'no opinion', 0],
    ['with an error and one false skip the webhook', [failing, "request.user == 'adam'"], 'no opinion', 0],
    ['with an error and none false follow failurePolicy', [failing, inShop], `deny: ${conditionFailure}`, 0],
    ['see empty texts', ["request.uid == '' && request.resourceAttributes.group == ''"], 'allow', 1],
    ['see groups', ["'system:authenticated' in request.groups"], 'allow', 1],
    ['see no selector without one', ['!has(request.resourceAttributes.labelSelector)'], 'allow', 1],
    ['see no attributes of the other kind', ['!has(request.nonResourceAttributes)'], 'allow', 1],
    ['can use optional fields', ["request.?nonResourceAttributes.path.orValue('/') == '/'"], 'allow', 1],
  ])('%s', async (_title, matchConditions, expected, calls) => {
    const { ask } = await open({ matchConditions });
    server.answer = answers({ allowed: true });
    expect(await ask()).toBe(expected);
    expect(server.requests).toHaveLength(calls);
  });

  it('see selectors', async () => {
    const text =
      "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'team' && r.values == ['a'])";
    const { ask } = await open({ matchConditions: [isResource, text] });
    server.answer = answers({ allowed: true });
    expect(await ask({ labelSelector: parseLabelSelector('team=a') })).toBe('allow');
    expect(await ask({ labelSelector: parseLabelSelector('team=b') })).toBe('no opinion');
    expect(await ask()).toBe(`deny: ${conditionFailure}`);
  });

  it('see the path of other requests', async () => {
    const { ask } = await open({ matchConditions: ["request.nonResourceAttributes.path.startsWith('/debug')"] });
    server.answer = answers({ allowed: true });
    expect(await ask({ isResourceRequest: false, path: '/debug/pprof' })).toBe('allow');
    expect(await ask({ isResourceRequest: false, path: '/metrics' })).toBe('no opinion');
  });

  it('with an error are left to the next authorizer with NoOpinion, and logged with what to do', async () => {
    const { ask, lines, counts } = await open({ failurePolicy: 'NoOpinion', matchConditions: [failing] });
    expect(await ask()).toBe(`no opinion: ${conditionFailure}`);
    expect(lines).toEqual([expect.stringContaining('correct the expression')]);
    expect(lines[0]).toContain('resulted in error: no such key: absent');
    expect(counts()).toEqual({ match_condition_evaluation_errors_total: 1, match_condition_evaluation_seconds: 1 });
  });

  it('are counted', async () => {
    const { ask, counts } = await open({ matchConditions: [inShop] });
    server.answer = answers({ allowed: true });
    await ask();
    await ask({ namespace: 'other' });
    await ask({ namespace: 'other' });
    expect(counts()).toMatchObject({ match_condition_exclusions_total: 2, match_condition_evaluation_seconds: 3 });
  });

  it('see keys that are named like properties of objects as ordinary ones', async () => {
    const extra = JSON.parse('{"__proto__":["a"],"constructor":["b"]}') as Record<string, string[]>;
    const text = "request.extra['__proto__'] == ['a'] && !('toString' in request.extra)";
    const { ask } = await open({ matchConditions: [text] });
    server.answer = answers({ allowed: true }, { spec: undefined });
    expect(await ask({ user: { name: 'eve', uid: '', groups: [], extra } })).toBe('allow');
  });

  it('that cost too much follow failurePolicy', async () => {
    const text = 'request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b + c != "")))';
    const { ask, lines } = await open({ matchConditions: [text] });
    const groups = Array.from({ length: 1_000 }, (_, n) => `group-${n}`);
    expect(await ask({ user: { name: 'eve', uid: '', groups, extra: {} } })).toBe(`deny: ${conditionFailure}`);
    expect(lines.join()).toContain('actual cost limit exceeded');
  });

  it.each([
    ['that are not a bool', 'request.user', 'matchConditions[1].expression: must evaluate to bool but got string'],
    ['that do not compile', 'request.nothing == 1', 'matchConditions[1].expression: compilation failed'],
    ['that use authorizer', 'authorizer.group("").allowed()', 'matchConditions[1].expression: compilation failed'],
  ])('%s are refused', async (_title, expression, problem) => {
    await expect(open({ matchConditions: ['true', expression] })).rejects.toThrow(problem);
  });
});

describe('connections', () => {
  it('with a kubeconfig that cannot be read are refused', async () => {
    const kubeconfigFile = join(files.directory, 'absent');
    await expect(open({ kubeconfigFile })).rejects.toThrow(`kubeconfig ${kubeconfigFile} cannot be read`);
  });

  describe('of a Pod', () => {
    const surroundings = (environment = {}) => {
      files.write('ca.crt', server.ca);
      files.write('token', 'first');
      const { directory } = files;
      const of = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port), ...environment };
      return { kubeconfigFile: undefined, pod: { environment: of, directory } };
    };

    it('use its ServiceAccount and the SubjectAccessReviews of its cluster', async () => {
      const { named, clock } = await open(surroundings());
      server.answer = (review, response, request) => {
        response.statusCode = 201;
        answers({ allowed: true })(review, response, request);
      };
      expect(await named('a')).toBe('allow');
      writeFileSync(join(files.directory, 'token'), 'second-token');
      clock.advance(1_000);
      expect(await named('b')).toBe('allow');
      expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
        ['/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=30s', 'Bearer first'],
        ['/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=30s', 'Bearer second-token'],
      ]);
    });

    it.each(['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'])('need %s', async (name) => {
      await expect(open(surroundings({ [name]: undefined }))).rejects.toThrow(
        'InClusterConfig needs KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT',
      );
    });

    it('need the token', async () => {
      const { pod } = surroundings();
      const directory = join(pod.directory, 'absent');
      await expect(open({ kubeconfigFile: undefined, pod: { ...pod, directory } })).rejects.toThrow('cannot be read');
    });
  });
});

it('rules of a user cannot be listed', async () => {
  const { webhook } = await open();
  expect(await webhook.rulesFor?.(attributesOf().user, 'shop')).toEqual({
    resourceRules: [],
    nonResourceRules: [],
    problem: 'webhook authorizer does not support user rule resolution',
  });
});
