import { ClientKubeconfigs } from '../../../test/harness/client-kubeconfigs.js';
import { eventually } from '../../../test/harness/eventually.js';
import { RetryClock } from '../../../test/harness/retry-clock.js';
import { acceptAll, respond, WebhookServer } from '../../../test/harness/token-webhook.js';
import { webhookCertificate } from '../../../test/harness/webhook-certificate.js';
import { openKubeconfigClient } from '../../kubeconfig-client/open-client.js';
import { TokenCacheMetrics } from '../../metrics/token-cache-metrics.js';
import { WebhookMetrics } from '../../metrics/webhook-metrics.js';
import { Canceller } from '../../std/cancellation.js';
import { isAuthenticated, type AuthenticationResult } from '../authenticator.js';
import type { LookupLimits } from './shared-lookups.js';
import { TokenWebhook } from './token-webhook.js';

let server: WebhookServer;
let files: ClientKubeconfigs;
const opened: { close(): void }[] = [];
beforeAll(() => (files = new ClientKubeconfigs()));
beforeEach(async () => (server = await WebhookServer.start()));
afterEach(async () => {
  for (const client of opened.splice(0)) client.close();
  await server.stop();
});
afterAll(() => files.remove());

const limitsDefault: LookupLimits = { entriesMax: 100, bytesMax: 100_000, pendingMax: 50, pendingBytesMax: 1000 };

async function makeWebhook(
  options: {
    cluster?: Record<string, unknown>;
    cacheTtlMs?: number;
    limits?: Partial<LookupLimits>;
    own?: string[];
  } = {},
) {
  const clock = new RetryClock(29_999);
  const client = await openKubeconfigClient({
    file: files.kubeconfig(server, { token: 'of-the-server' }, options.cluster),
    clock,
  });
  opened.push(client);
  const lines: string[] = [];
  const log = (message: string, fields?: Record<string, unknown>) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const metrics = new TokenCacheMetrics(clock);
  const webhooks = new WebhookMetrics();
  const webhook = new TokenWebhook({
    ...{ client, clock, rng: { below: () => 0, uuid: () => '' } },
    apiVersion: 'authentication.k8s.io/v1beta1',
    ownAudiences: options.own ?? ['api'],
    cacheTtlMs: options.cacheTtlMs ?? 120_000,
    answerBytesMax: 10_000,
    limits: { ...limitsDefault, ...options.limits },
    observer: metrics,
    webhookObserver: webhooks,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const name = async (token: string, audiences?: string[], signal?: Canceller) =>
    nameIn(await webhook.authenticate(token, audiences, { signal }));
  const counts = () =>
    Object.fromEntries(
      metrics
        .families()
        .flatMap((family) =>
          family.type === 'histogram'
            ? []
            : [...family.samples()].map(({ labels, value }) => [labels['status'], value] as const),
        ),
    );
  const refused = () => webhooks.families().map(({ samples }) => [...samples()][0]?.value);
  return { webhook, clock, lines, name, counts, refused };
}

/** The name and audiences of an accepted token, or the rejection. */
function nameIn(result: AuthenticationResult): unknown {
  return isAuthenticated(result) ? [result.user.name, ...(result.audiences ?? [])] : result;
}

const couldNotBeAsked = { rejected: 'the token webhook could not be asked' };

describe('audiences', () => {
  it.each<[string, { own: string[]; asked?: string[]; answered?: string[]; expected: unknown }]>([
    ['of this server are asked for by default', { own: ['api', 'b'], answered: ['b', 'c'], expected: ['eve', 'b'] }],
    [
      'that were asked for and answered are valid',
      { own: ['api'], asked: ['x', 'y'], answered: ['y'], expected: ['eve', 'y'] },
    ],
    ['other than those asked for are refused', { own: ['api'], answered: ['other'], expected: 'rejected' }],
    [
      'of this server that were not asked for are refused',
      { own: ['api'], asked: ['x'], answered: ['api'], expected: 'rejected' },
    ],
    [
      'that are not answered are those of this server',
      { own: ['api', 'b'], asked: ['b', 'x'], expected: ['eve', 'b'] },
    ],
    [
      'that are not answered and are others than those of this server are refused',
      { own: ['api'], asked: ['x'], expected: 'rejected' },
    ],
    ['are not compared if none are asked for', { own: [], answered: ['x'], expected: ['eve'] }],
  ])('%s', async (_title, { own, asked, answered, expected }) => {
    const { name } = await makeWebhook({ own });
    server.answer = (_token, response) =>
      respond(response, { authenticated: true, user: { username: 'eve' }, ...(answered && { audiences: answered }) });
    expect(await name('t', asked)).toEqual(expected);
    const sent = asked ?? own;
    expect(server.reviews[0]?.spec).toEqual({ token: 't', ...(sent.length > 0 && { audiences: sent }) });
  });
});

describe('the cache', () => {
  it('keeps accepted tokens for its time', async () => {
    const { name, clock, counts } = await makeWebhook();
    server.answer = acceptAll;
    expect(await name('a')).toEqual(['a', 'api']);
    clock.advance(119_999);
    expect(await name('a')).toEqual(['a', 'api']);
    expect(server.asked('a')).toBe(1);
    clock.advance(1);
    expect(await name('a')).toEqual(['a', 'api']);
    expect(server.asked('a')).toBe(2);
    expect(counts()).toEqual({ hit: 1, miss: 2, ok: 2, error: 0, in_flight: 0, blocked: 0 });
  });

  it('keeps rejected tokens for its time', async () => {
    const { name, clock } = await makeWebhook();
    expect(await name('a')).toBe('rejected');
    server.answer = acceptAll;
    expect(await name('a')).toBe('rejected');
    clock.advance(120_000);
    expect(await name('a')).toEqual(['a', 'api']);
  });

  it('does not keep a rejection with an error', async () => {
    const { name } = await makeWebhook();
    server.answer = (_token, response) => respond(response, { error: 'directory is not available' });
    expect(await name('a')).toEqual({ rejected: 'directory is not available' });
    server.answer = acceptAll;
    expect(await name('a')).toEqual(['a', 'api']);
  });

  it('does not keep the failure of a call', async () => {
    const { name, counts } = await makeWebhook();
    server.answer = (_token, response) => void response.writeHead(404).end();
    expect(await name('a')).toEqual(couldNotBeAsked);
    expect(counts()).toMatchObject({ miss: 1, ok: 0, error: 1 });
    server.answer = acceptAll;
    expect(await name('a')).toEqual(['a', 'api']);
  });

  it('keeps results apart by audiences', async () => {
    const { name } = await makeWebhook();
    server.answer = (token, response) =>
      respond(response, { authenticated: true, user: { username: token }, audiences: ['a,b', 'a', 'b'] });
    expect(await name('t', ['a', 'b'])).toEqual(['t', 'a', 'b']);
    expect(await name('t', ['a,b'])).toEqual(['t', 'a,b']);
    expect(await name('t', ['a'])).toEqual(['t', 'a']);
    expect(await name('t', ['a', 'b'])).toEqual(['t', 'a', 'b']);
    expect(server.asked('t')).toBe(3);
  });

  it('with a time of zero keeps nothing', async () => {
    const { name } = await makeWebhook({ cacheTtlMs: 0 });
    server.answer = acceptAll;
    await name('a');
    await name('a');
    expect(server.asked('a')).toBe(2);
  });

  it('keeps accepted tokens however many are rejected', async () => {
    const { name } = await makeWebhook({ limits: { entriesMax: 2 } });
    server.answer = (token, response) =>
      respond(response, { authenticated: token === 'good', user: { username: token } });
    await name('good');
    for (const token of ['1', '2', '3', '4']) await name(token);
    expect(await name('good')).toEqual(['good', 'api']);
    expect(server.asked('good')).toBe(1);
    await name('4');
    expect(server.asked('4')).toBe(1);
    await name('1');
    expect(server.asked('1')).toBe(2);
  });
});

describe('requests with one token', () => {
  it('at the same time make one call', async () => {
    const { name, counts } = await makeWebhook();
    let release = () => undefined as void;
    server.answer = (token, response) => void (release = () => acceptAll(token, response, undefined as never));
    const results = Array.from({ length: 1000 }, () => name('a'));
    await eventually('the webhook is asked', () => server.requests.length > 0);
    expect(counts()).toMatchObject({ blocked: 1000, in_flight: 1 });
    release();
    expect(new Set((await Promise.all(results)).map(String))).toEqual(new Set(['a,api']));
    expect(server.requests).toHaveLength(1);
    expect(counts()).toEqual({ miss: 1000, ok: 1, error: 0, in_flight: 0, blocked: 0 });
  });

  it('that all end cancel the call', async () => {
    const { name, lines } = await makeWebhook();
    server.answer = () => undefined;
    const callers = [new Canceller(), new Canceller()];
    const results = callers.map((caller) => name('a', undefined, caller));
    await eventually('the webhook is asked', () => server.requests.length === 1);
    callers[0]!.cancel(new Error('closed'));
    expect(await results[0]).toBe('rejected');
    expect(server.cancelled).toBe(0);
    callers[1]!.cancel(new Error('closed'));
    expect(await results[1]).toBe('rejected');
    await eventually('the call is cancelled', () => server.cancelled === 1);
    expect(lines).toEqual([]);
  });

  it('that come after a cancelled call start another one', async () => {
    const { name } = await makeWebhook();
    server.answer = () => undefined;
    const caller = new Canceller();
    const first = name('a', undefined, caller);
    await eventually('the webhook is asked', () => server.requests.length === 1);
    server.answer = acceptAll;
    caller.cancel(new Error('closed'));
    expect(await Promise.all([first, name('a')])).toEqual(['rejected', ['a', 'api']]);
  });

  it('get the result although one of them has ended', async () => {
    const { name } = await makeWebhook();
    let release = () => undefined as void;
    server.answer = (token, response) => void (release = () => acceptAll(token, response, undefined as never));
    const caller = new Canceller();
    const [ended, waiting] = [name('a', undefined, caller), name('a')];
    await eventually('the webhook is asked', () => server.requests.length === 1);
    caller.cancel(new Error('closed'));
    release();
    expect(await Promise.all([ended, waiting])).toEqual(['rejected', ['a', 'api']]);
  });

  it('that have ended before make no call', async () => {
    const { name } = await makeWebhook();
    const caller = new Canceller();
    caller.cancel(new Error('closed'));
    expect(await name('a', undefined, caller)).toBe('rejected');
    expect(server.requests).toHaveLength(0);
  });
});

describe('limits', () => {
  it('tokens beyond the number that may wait are rejected', async () => {
    const { name, counts } = await makeWebhook({ limits: { pendingMax: 2 } });
    const held: (() => void)[] = [];
    server.answer = (token, response) => void held.push(() => acceptAll(token, response, undefined as never));
    const waiting = [name('a'), name('b'), name('a')];
    expect(await name('c')).toEqual({ rejected: 'too many tokens wait for the token webhook' });
    await eventually('the webhook is asked', () => held.length === 2);
    for (const release of held) release();
    expect(await Promise.all(waiting)).toEqual([
      ['a', 'api'],
      ['b', 'api'],
      ['a', 'api'],
    ]);
    server.answer = acceptAll;
    expect(await name('c')).toEqual(['c', 'api']);
    expect(counts()).toMatchObject({ in_flight: 0, blocked: 0 });
  });

  it('tokens beyond the bytes that may wait are rejected', async () => {
    const { name } = await makeWebhook({ limits: { pendingBytesMax: 100 } });
    server.answer = acceptAll;
    expect(await name('x'.repeat(101))).toEqual({ rejected: 'too many tokens wait for the token webhook' });
    expect(await name('x'.repeat(100))).toEqual(['x'.repeat(100), 'api']);
    expect(await name('y'.repeat(100))).toEqual(['y'.repeat(100), 'api']);
  });

  it('an answer larger than the limit is refused', async () => {
    const { name, lines } = await makeWebhook();
    server.answer = (token, response) =>
      respond(response, { authenticated: true, user: { username: token }, padding: 'x'.repeat(10_000) });
    expect(await name('a')).toEqual(couldNotBeAsked);
    expect(lines.join()).toContain('the answer has more than 10000 bytes');
  });

  it('a token without an answer is rejected after 30 s', async () => {
    const { name, clock, lines } = await makeWebhook();
    server.answer = (_token, response) => void response.write('{');
    let isOver = false;
    const result = name('a').finally(() => (isOver = true));
    await eventually('the webhook is asked', () => server.requests.length === 1);
    clock.advance(29_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.advance(1);
    expect(await result).toEqual(couldNotBeAsked);
    expect(lines.join()).toContain('there was no answer in 30 s');
  });
});

describe('a call', () => {
  const succeedsAfter = (code: number, headers = {}) => {
    let left = 1;
    server.answer = (token, response, request) => {
      if (left-- > 0) response.writeHead(code, headers).end();
      else acceptAll(token, response, request);
    };
  };

  it.each([[429], [500], [502], [504], [599]])('is repeated after the answer %d', async (code) => {
    const { name, clock } = await makeWebhook();
    succeedsAfter(code);
    expect(await name('a')).toEqual(['a', 'api']);
    expect(clock.delays).toEqual([500]);
  });

  it.each([[400], [401], [403], [404], [409], [503], [301], [302], [303], [307], [308]])(
    'is not repeated after the answer %d',
    async (code) => {
      const { name, clock, lines } = await makeWebhook();
      succeedsAfter(code, { Location: server.url });
      expect(await name('a')).toEqual(couldNotBeAsked);
      expect(clock.delays).toEqual([]);
      expect(server.requests).toHaveLength(1);
      expect(lines.join()).toContain(`it answered with status ${code}`);
    },
  );

  it.each([[503], [429], [400]])(
    'is repeated after the answer %d with Retry-After, and waits that long',
    async (code) => {
      const { name, clock } = await makeWebhook();
      succeedsAfter(code, { 'Retry-After': '3' });
      expect(await name('a')).toEqual(['a', 'api']);
      expect(clock.delays).toEqual([3000]);
    },
  );

  it('is repeated four times with growing delays', async () => {
    const { name, clock } = await makeWebhook();
    server.answer = (_token, response) => void response.writeHead(500).end();
    expect(await name('a')).toEqual(couldNotBeAsked);
    expect(server.requests).toHaveLength(5);
    expect(clock.delays).toEqual([500, 750, 1125, 1688]);
  });

  it('is repeated after a connection that was reset', async () => {
    const { name, clock } = await makeWebhook();
    let left = 1;
    server.answer = (token, response, request) => {
      if (left-- > 0) request.socket.destroy();
      else acceptAll(token, response, request);
    };
    expect(await name('a')).toEqual(['a', 'api']);
    expect(clock.delays).toEqual([500]);
  });

  it('is repeated at once if the webhook has just closed the idle connection', async () => {
    const { name, clock } = await makeWebhook();
    server.answer = acceptAll;
    await name('a');
    let left = 1;
    server.answer = (token, response, request) => {
      if (left-- > 0) request.socket.destroy();
      else acceptAll(token, response, request);
    };
    expect(await name('b')).toEqual(['b', 'api']);
    expect(clock.delays).toEqual([]);
  });

  it('to a webhook that is down fails at once', async () => {
    const { name, clock, lines } = await makeWebhook();
    await server.stop();
    expect(await name('a')).toEqual(couldNotBeAsked);
    expect(clock.delays).toEqual([]);
    expect(lines.join()).toContain('nothing listens there');
  });

  it('that fails is logged once in 10 s, without the token', async () => {
    const { name, clock, lines } = await makeWebhook();
    server.answer = (token, response) => void response.writeHead(400).end(token);
    await name('secret-1');
    await name('secret-2');
    expect(lines).toHaveLength(1);
    clock.advance(10_000);
    await name('secret-3');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('"failures":2');
    expect(lines.join()).not.toMatch(/secret|of-the-server/);
  });
});

describe('the certificate of the webhook', () => {
  it.each<[string, { hash: string; names: string[] }, number[], string]>([
    ['without subjectAltName is refused and counted', { hash: 'SHA-256', names: [] }, [1, 0], 'has no subjectAltName'],
    ['signed with SHA-1 is refused and counted', { hash: 'SHA-1', names: ['webhook'] }, [0, 1], 'signed with SHA-1'],
    ['for another name is refused', { hash: 'SHA-256', names: ['another'] }, [0, 0], 'is for other names'],
  ])('%s', async (_title, options, counted, problem) => {
    await server.stop();
    server = await WebhookServer.start(await webhookCertificate(options));
    server.answer = acceptAll;
    const { name, lines, refused } = await makeWebhook({ cluster: { 'tls-server-name': 'webhook' } });
    expect(await name('a')).toEqual(couldNotBeAsked);
    expect(server.requests).toEqual([]);
    expect(lines.join()).toContain(problem);
    expect(refused()).toEqual(counted);
  });
});
