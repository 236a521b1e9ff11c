import { shell } from '../../test/harness/shell.js';
import { ManualClock } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import { silentLogger } from '../std/logger.js';
import { HealthChecks } from './health-checks.js';
import { HealthRequests } from './health-requests.js';
import { bootStep, reconcilerChecks, standardChecks } from './health-standard-checks.js';

function world(livezGracePeriodMs = 0) {
  const clock = new ManualClock();
  const state = {
    store: (): Promise<unknown> => Promise.resolve(),
    synced: true,
    loading: undefined as { keys: number; keysInAll: number } | undefined,
    booted: true,
    stopping: false,
    asked: 0,
  };
  const checks = new HealthChecks({ clock, logger: silentLogger, livezGracePeriodMs });
  checks.add(
    ...standardChecks({
      clock,
      store: () => {
        state.asked++;
        return state.store();
      },
      storeTimeoutMs: 2000,
      storeReadyTimeoutMs: 2000,
      cacheSynced: () => state.synced,
      cacheLoading: () => state.loading,
      bootstrapDone: () => state.booted,
      shuttingDown: () => state.stopping,
    }),
  );
  const requests = new HealthRequests(checks);
  const server = shell((request, reply) => requests.answer(request, reply));
  const get = async (url: string, method = 'GET') => {
    const { statusCode, body, headers } = await server.inject({ method: method as 'GET', url });
    return { code: statusCode, text: body, headers };
  };
  return { clock, state, checks, get };
}

const hooks = [
  'generic-apiserver-start-informers',
  'watch-cache-initialization',
  'start-apiextensions-informers',
  'crd-informer-synced',
  'start-kube-aggregator-informers',
  'start-apiserver-admission-initializer',
  'storage-readiness',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
  'start-system-namespaces-controller',
  'start-kubernetes-service-cidr-controller',
  'apiservice-registration-controller',
  'kube-apiserver-autoregistration',
  'apiservice-status-local-available-controller',
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
]
  .map((name) => `[+]poststarthook/${name} ok\n`)
  .join('')
  .concat('[+]autoregister-completion ok\n');
const warning = (names: string) => `warn: some health checks cannot be excluded: no matches for ${names}\n`;

describe('a healthy server', () => {
  const { get } = world();
  it.each([
    ['/healthz', 'ok'],
    ['/livez', 'ok'],
    ['/readyz', 'ok'],
    ['/healthz?verbose', `[+]ping ok\n[+]log ok\n[+]etcd ok\n${hooks}healthz check passed\n`],
    ['/livez?verbose=true', `[+]ping ok\n[+]log ok\n[+]etcd ok\n${hooks}healthz check passed\n`],
    [
      '/readyz?verbose',
      `[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n${hooks}[+]shutdown ok\nhealthz check passed\n`,
    ],
    [
      '/livez?verbose&exclude=etcd&exclude=ping',
      `[+]ping excluded: ok\n[+]log ok\n[+]etcd excluded: ok\n${hooks}healthz check passed\n`,
    ],
    [
      '/livez?verbose&exclude=z&exclude=a',
      `[+]ping ok\n[+]log ok\n[+]etcd ok\n${hooks}${warning('"a", "z"')}healthz check passed\n`,
    ],
    ['/livez?exclude=nothing', 'ok'],
    ['/livez/ping', 'ok'],
    ['/livez/ping?verbose', 'ok'],
    ['/readyz/shutdown', 'ok'],
    ['/readyz/poststarthook/bootstrap-controller', 'ok'],
    ['/livez/poststarthook/rbac/bootstrap-roles', 'ok'],
  ])('GET %s answers 200', async (url, text) => {
    const answer = await get(url);
    expect([answer.code, answer.text, answer.headers['content-type']]).toEqual([
      200,
      text,
      'text/plain; charset=utf-8',
    ]);
  });

  it.each(['/livez/', '/livez/nothing', '/livez/shutdown', '/livez/poststarthook', '/healthz/informer-sync'])(
    'GET %s answers 404',
    async (url) => {
      const answer = await get(url);
      expect([answer.code, answer.text]).toEqual([404, '404 page not found\n']);
    },
  );

  it('gives the same answer for every method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await get('/livez', method)).toMatchObject({ code: 200, text: 'ok' });
    expect(await get('/livez', 'HEAD')).toMatchObject({ code: 200, text: '', headers: { 'content-length': '2' } });
  });
});

describe('a failing check', () => {
  it('turns its endpoints to 500, with a report that withholds the reason', async () => {
    const { get, state } = world();
    state.store = () => Promise.reject(new Error('secret address refused'));
    const answer = await get('/livez?exclude=nothing');
    expect(answer).toMatchObject({
      code: 500,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    });
    expect(answer.text).toBe(
      `[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n${hooks}${warning('"nothing"')}livez check failed\n`,
    );
    expect(await get('/livez?exclude=etcd')).toMatchObject({ code: 200, text: 'ok' });
    expect(await get('/livez/etcd')).toMatchObject({
      code: 500,
      text: 'internal server error: secret address refused\n',
    });
    expect(await get('/livez/ping')).toMatchObject({ code: 200 });
  });

  it('of readiness alone does not fail /livez and /healthz', async () => {
    const { get, state } = world();
    state.stopping = true;
    expect([(await get('/readyz')).code, (await get('/livez')).code]).toEqual([500, 200]);
    state.stopping = false;
    expect((await get('/readyz')).code).toBe(200);
    state.synced = false;
    expect([(await get('/readyz')).code, (await get('/livez')).code]).toEqual([500, 200]);
  });

  it('of a boot step fails /livez only after the grace period', async () => {
    const { clock, get, state } = world(10_000);
    state.booted = false;
    expect([(await get('/livez')).code, (await get('/readyz')).code, (await get('/healthz')).code]).toEqual([
      200, 500, 500,
    ]);
    clock.advance(10_000);
    expect((await get('/livez')).code).toBe(500);
    state.booted = true;
    expect((await get('/livez')).code).toBe(200);
  });

  it('is counted for metrics', async () => {
    const { checks } = world();
    let works = false;
    checks.add(bootStep('late', () => works, 'not yet'));
    await checks.run('readyz', []);
    works = true;
    await checks.run('readyz', []);
    const [late] = [...checks.records()].filter(({ name }) => name === 'poststarthook/late');
    expect(late).toEqual({ name: 'poststarthook/late', endpoint: 'readyz', passed: 1, failed: 1, lastPassed: true });
  });
});

describe('the check of the store', () => {
  it('sends one request for concurrent probes', async () => {
    const { get, state } = world();
    const answer = new Deferred<void>();
    state.store = () => answer.promise;
    const probes = Array.from({ length: 5 }, () => get('/readyz'));
    await new Promise((resolve) => setImmediate(resolve));
    answer.resolve();
    expect((await Promise.all(probes)).map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
    expect(state.asked).toBe(1);
    await get('/readyz');
    expect(state.asked).toBe(2);
  });

  it('fails after its timeout if the store hangs, with requests that are given up after 1.5 s', async () => {
    const { clock, checks, state } = world();
    state.store = () => new Promise(() => undefined);
    const report = checks.run('livez', []);
    clock.advance(1_999);
    expect(state.asked).toBeLessThanOrEqual(8);
    expect(await Promise.race([report, new Promise((resolve) => setImmediate(resolve, 'pending'))])).toBe('pending');
    clock.advance(1);
    expect((await report).failed).toEqual(['etcd']);
    // Requests that never end do not keep later ones from being sent.
    clock.advance(10_000);
    state.store = () => Promise.resolve();
    clock.advance(1_000);
    expect((await checks.run('livez', [])).failed).toEqual([]);
  });

  const steps = (clock: ManualClock) => async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it.each([
    ['readyz', 1_650],
    ['livez', 2_150],
  ] as const)('fails /%s within %d ms of an outage while it is probed each second', async (endpoint, withinMs) => {
    for (let phaseMs = 50; phaseMs <= 1_000; phaseMs += 50) {
      const { clock, checks, state } = world();
      const advance = steps(clock);
      let stoppedMs = Infinity;
      let toldMs: number | undefined;
      const probe = () =>
        void checks.run(endpoint, []).then(({ failed }) => {
          expect(failed.length > 0 && stoppedMs === Infinity).toBe(false);
          if (failed.length > 0) toldMs ??= clock.monotonicMs() - stoppedMs;
        });
      for (let second = 0; second < 6; second++) {
        probe();
        if (second !== 2) {
          await advance(1_000);
          continue;
        }
        await advance(phaseMs);
        state.store = () => new Promise(() => undefined);
        stoppedMs = clock.monotonicMs();
        await advance(1_000 - phaseMs);
      }
      expect(toldMs).toBeLessThanOrEqual(withinMs);
    }
  });

  it('passes each second while the store takes 1.2 s for an answer', async () => {
    const { clock, checks, state } = world();
    const advance = steps(clock);
    state.store = () => new Promise((resolve) => clock.after(1_200, () => resolve(undefined)));
    const reports: string[] = [];
    for (let second = 0; second < 20; second++) {
      void checks.run('readyz', []).then(({ failed }) => reports.push(failed.join()));
      await advance(1_000);
    }
    await advance(2_000);
    expect(reports).toEqual(Array<string>(20).fill(''));
  });

  it('fails within its timeout of the last answer if a probe comes late', async () => {
    const { clock, checks, state } = world();
    const advance = steps(clock);
    for (let second = 0; second < 3; second++) {
      expect((await checks.run('readyz', [])).failed).toEqual([]);
      await advance(1_000);
    }
    state.store = () => new Promise(() => undefined);
    const stoppedMs = clock.monotonicMs();
    await advance(900);
    const report = checks.run('readyz', []).then(({ failed }) => ({ failed, atMs: clock.monotonicMs() }));
    await advance(1_500);
    const { failed, atMs } = await report;
    expect(failed).toEqual(['etcd', 'etcd-readiness']);
    expect(atMs - stoppedMs).toBeLessThanOrEqual(1_500);
  });

  it('sends requests between probes for 3 s only', async () => {
    const { clock, checks, state } = world();
    await checks.run('readyz', []);
    for (let passed = 0; passed < 20_000; passed += 100) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(state.asked).toBeGreaterThan(3);
    expect(state.asked).toBeLessThan(15);
    expect(clock.pendingTimers).toBe(0);
  });
});

it('a reconciler step passes only while all of its reconcilers run', () => {
  const running = new Set(['crd-condition-controller']);
  const step = reconcilerChecks((name) => running.has(name)).find(
    ({ name }) => name === 'poststarthook/start-apiextensions-controllers',
  )!;
  expect(() => step.check()).toThrow('reconciler crd-condition-controller or crd-finalizer is not running');
  running.add('crd-finalizer');
  expect(() => step.check()).not.toThrow();
});
