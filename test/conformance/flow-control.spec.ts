import { eventually } from '../harness/eventually.js';
import { FlowLevels, impersonating } from '../harness/flow-levels.js';
import { holdRequest } from '../harness/held-requests.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const dumps = '/debug/api_priority_and_fairness';
const configMaps = '/api/v1/namespaces/default/configmaps';
const users = ['holder', 'waiter', 'other', 'highqps', 'lowqps'];

let server: TestServer;
let flow: FlowLevels;

beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  flow = new FlowLevels(server);
  await flow.bindUsers(users);
  await flow.begin();
  await eventually('the users may read', async () => (await get('holder', configMaps)).code === 200);
});
afterAll(() => server?.stop());

const get: FlowLevels['get'] = (...given) => flow.get(...given);
const dumpOf = (level: string) => flow.dumpOf(level);

const reject = { type: 'Reject' };
const oneQueue = { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } };
const manyQueues = { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } };
/** One of the shares of a new cluster: three seats of 600. */
const threeSeats = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0 };

describe('FlowSchema and priority level in the headers', () => {
  it.each<[user: string, groups: string[], path: string, flow: string, code: number]>([
    ['admin', ['system:masters'], '/api/v1/namespaces', 'exempt/exempt', 200],
    ['admin', ['system:masters'], '/api/v1/nothing', 'exempt/exempt', 404],
    ['alice', [], '/livez', 'probes/exempt', 200],
    ['alice', [], '/version', 'global-default/global-default', 200],
    ['alice', [], '/api/v1/pods', 'global-default/global-default', 403],
    ['alice', [], '/api/v1/pods?watch=1', 'global-default/global-default', 403],
    ['alice', [], '/nothing', 'global-default/global-default', 403],
    ['system:node:n1', ['system:nodes'], '/api/v1/nodes/n1', 'system-node-high/node-high', 403],
    ['system:node:n1', ['system:nodes'], '/api/v1/secrets', 'system-nodes/system', 403],
    ['system:kube-controller-manager', [], '/api/v1/pods', 'kube-controller-manager/workload-high', 200],
    ['system:kube-scheduler', [], '/api/v1/pods', 'kube-scheduler/workload-high', 200],
    [
      'system:serviceaccount:kube-system:x',
      ['system:serviceaccounts'],
      '/version',
      'kube-system-service-accounts/workload-high',
      200,
    ],
    ['system:serviceaccount:default:x', ['system:serviceaccounts'], '/version', 'service-accounts/workload-low', 200],
  ])('GET by %s %j of %s is of %s', async (user, groups, path, names, code) => {
    const answer = await get(user, path, ...groups);
    expect([answer.code, flow.flowOf(answer)]).toEqual([code, names]);
  });

  it('an answer to a client without valid credentials has none (401)', async () => {
    const { code, headers } = await server.client({ token: 'unknown' }).get('/api/v1/pods');
    expect([code, headers['x-kubernetes-pf-flowschema-uid']]).toEqual([401, undefined]);
  });

  it('a watch has them, and occupies no seat once it is open', async () => {
    const watch = await server.admin.watch(`${configMaps}?resourceVersion=0`, impersonating('other'));
    expect(flow.flowOf(watch)).toBe('global-default/global-default');
    await eventually('the seat is released', async () => (await dumpOf('global-default'))['ExecutingRequests'] === '0');
    watch.close();
  });
});

// Cases of the end-to-end tests of Kubernetes, with requests that are held open instead of a load for a time.
describe('API priority and fairness', () => {
  it('should ensure that requests can be classified by adding FlowSchema and PriorityLevelConfiguration', async () => {
    await flow.create('e2e-testing', { nominalConcurrencyShares: 1, limitResponse: reject }, ['noxu']);
    const level = await server.admin.get(`${levels}/e2e-testing`);
    const schema = await server.admin.get(`${schemas}/e2e-testing`);
    const { headers } = await get('noxu', '/version');
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(level.body.metadata.uid);
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(schema.body.metadata.uid);
    expect(flow.flowOf(await get('foo', '/version'))).toBe('global-default/global-default');
    expect(await flow.valueOf('apiserver_flowcontrol_nominal_limit_seats', 'priority_level="e2e-testing"')).toBe(3);
    await flow.remove('e2e-testing');
  });

  it("should ensure that requests can't be drowned out (priority)", async () => {
    await flow.create('highqps', { ...threeSeats, limitResponse: reject }, ['highqps'], { matchingPrecedence: 999 });
    await flow.create('lowqps', { ...threeSeats, limitResponse: reject }, ['lowqps']);
    const held = await flow.holdSeats('highqps', 'highqps', 3);
    for (let at = 0; at < 20; at++) {
      const [high, low] = await Promise.all([get('highqps', '/version'), get('lowqps', '/version')]);
      expect([high.code, low.code, flow.flowOf(high), flow.flowOf(low)]).toEqual([
        429,
        200,
        'highqps/highqps',
        'lowqps/lowqps',
      ]);
    }
    expect(await Promise.all(held.map((request) => request.end()))).toEqual([201, 201, 201]);
    expect((await get('highqps', '/version')).code).toBe(200);
    await flow.remove('highqps');
    await flow.remove('lowqps');
  });

  it("should ensure that requests can't be drowned out (fairness)", async () => {
    const queuing = { queues: 64, handSize: 1, queueLengthLimit: 2 };
    const response = { type: 'Queue', queuing };
    await flow.create('fairness', { ...threeSeats, limitResponse: response }, ['highqps', 'lowqps']);
    const held = await flow.holdSeats('fairness', 'highqps', 3);
    const path = '/version?timeout=50s';
    const high = Array.from({ length: 2 }, () => get('highqps', path));
    await eventually(
      'the queue of one user is full',
      async () => (await dumpOf('fairness'))['WaitingRequests'] === '2',
    );
    expect((await get('highqps', path)).code).toBe(429);
    const low = get('lowqps', path);
    await eventually('the other user waits', async () => (await dumpOf('fairness'))['WaitingRequests'] === '3');
    await Promise.all(held.map((request) => request.end()));
    expect((await Promise.all([low, ...high])).map(({ code }) => code)).toEqual([200, 200, 200]);
    await flow.remove('fairness');
  });
});

describe('a level without free seats', () => {
  it('is answered with 429 in plain text, if it does not queue', async () => {
    await flow.create('rejecting', { ...threeSeats, limitResponse: reject }, ['holder']);
    const held = await flow.holdSeats('rejecting', 'holder', 3);
    const { code, text, headers } = await get('holder', configMaps);
    expect([code, text]).toEqual([429, 'Too many requests, please try again later.\n']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'retry-after': expect.stringMatching(/^\d+$/) as string,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    });
    const labels = ['priority_level="rejecting"', 'reason="concurrency-limit"'];
    expect(await flow.valueOf('apiserver_flowcontrol_rejected_requests_total', ...labels)).toBe(1);
    // Members of system:masters are exempt.
    expect((await get('holder', configMaps, 'system:masters')).code).toBe(200);
    for (const request of held) request.cut();
    await eventually('the seats are free', async () => (await dumpOf('rejecting'))['ExecutingRequests'] === '0');
    expect((await get('holder', configMaps)).code).toBe(200);
    await flow.remove('rejecting');
  });

  it('queues requests, shows them, and dispatches them when seats are free', async () => {
    await flow.create('queueing', { ...threeSeats, limitResponse: oneQueue }, ['holder', 'waiter']);
    const held = await flow.holdSeats('queueing', 'holder', 3);
    const waiting = get('waiter', '/version?timeout=50s');
    await eventually('a request waits', async () => (await dumpOf('queueing'))['WaitingRequests'] === '1');
    const full = await get('waiter', '/version');
    expect([full.code, flow.flowOf(full)]).toEqual([429, 'queueing/queueing']);
    const requests = await server.admin.get(`${dumps}/dump_requests?includeRequestDetails=1`);
    const rows = requests.text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()));
    expect(rows[0]!.slice(0, 4)).toEqual(['PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue']);
    const own = rows.filter(([level]) => level === 'queueing');
    expect(own.map((row) => [row[3], row[10], row[11]])).toEqual([
      ['0', 'waiter', 'get'],
      ['-1', 'holder', 'create'],
      ['-1', 'holder', 'create'],
      ['-1', 'holder', 'create'],
    ]);
    const queues = (await server.admin.get(`${dumps}/dump_queues`)).text.split('\n');
    expect(queues.find((line) => line.startsWith('queueing,'))?.replace(/ +/g, ' ')).toMatch(
      /^queueing, 0, 1, 3, 3, \d+\.\d{8}ss, 1, 1, 0\.00300000ss$/,
    );
    expect(await held[0]!.end()).toBe(201);
    expect((await waiting).code).toBe(200);
    await Promise.all(held.slice(1).map((request) => request.end()));
    await flow.remove('queueing');
  });

  it('rejects a request after a quarter of its time, and forgets one whose client disconnects', async () => {
    await flow.create('patience', { ...threeSeats, limitResponse: oneQueue }, ['holder', 'waiter']);
    const held = await flow.holdSeats('patience', 'holder', 3);
    const late = await get('waiter', '/version?timeout=400ms');
    expect([late.code, late.text]).toEqual([429, 'Too many requests, please try again later.\n']);
    const leaving = holdRequest(server, configMaps, 'waiter', configMap('never'));
    await eventually('the next request waits', async () => (await dumpOf('patience'))['WaitingRequests'] === '1');
    leaving.cut();
    await eventually('it is gone', async () => (await dumpOf('patience'))['WaitingRequests'] === '0');
    expect(await dumpOf('patience')).toMatchObject({ RejectedRequests: '2', CancelledRequests: '2' });
    await Promise.all(held.map((request) => request.end()));
    await flow.remove('patience');
  });

  it('is removed with its object once its requests have ended', async () => {
    await flow.create('removed', { ...threeSeats, limitResponse: reject }, ['holder']);
    const held = await flow.holdSeats('removed', 'holder', 1);
    await server.admin.delete(`${levels}/removed`);
    await eventually('it ends', async () => (await dumpOf('removed'))['IsQuiescing'] === 'true');
    expect(flow.flowOf(await get('holder', '/version'))).toBe('global-default/global-default');
    await held[0]!.end();
    await eventually('it has ended', async () => (await dumpOf('removed'))['PriorityLevelName'] === '');
    await eventually('its FlowSchema is dangling', async () => {
      const { body } = await server.admin.get(`${schemas}/removed`);
      return body.status.conditions[0].status === 'True';
    });
    await flow.remove('removed');
  });
});

it('a request of one user is answered before most of 200 requests of another user that came before', async () => {
  await flow.create('shared', { nominalConcurrencyShares: 100, limitResponse: manyQueues }, ['highqps', 'lowqps']);
  const noisy = Array.from({ length: 200 }, () => server.client(server.keelson.client));
  const list = (client: HttpClient) => client.get(configMaps, impersonating('highqps'));
  await Promise.all(noisy.map(list));
  // A round says nothing if the requests did not arrive before the last one.
  await eventually('it does not wait for the others', async () => {
    expect((await get('lowqps', '/version')).code).toBe(200);
    let answered = 0;
    const codes = noisy.map(async (client) => {
      const { code } = await list(client);
      answered++;
      return code;
    });
    await eventually(
      'many of them wait',
      async () => answered > 100 || Number((await dumpOf('shared'))['WaitingRequests']) > 100,
    );
    const before = answered;
    expect((await get('lowqps', '/version')).code).toBe(200);
    const overtaken = noisy.length - answered;
    expect(new Set(await Promise.all(codes))).toEqual(new Set([200]));
    return before < 50 && overtaken > noisy.length / 2;
  });
  await flow.remove('shared');
});

it('/debug/api_priority_and_fairness/ is forbidden to other users, and has three pages', async () => {
  expect((await get('alice', `${dumps}/dump_queues`)).code).toBe(403);
  expect((await server.admin.get(`${dumps}/`)).code).toBe(404);
  expect((await server.admin.get(`${dumps}/dump_all`)).code).toBe(404);
});

it('--enable-priority-and-fairness=false has no headers, no dumps, no metrics, and the limits of requests in flight', async () => {
  const flow = { priorityAndFairness: false, mutatingRequestsInFlightMax: 1 };
  const other = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: { flow } });
  try {
    const { headers } = await other.admin.get('/api/v1/namespaces');
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBeUndefined();
    expect((await other.admin.get(`${dumps}/dump_priority_levels`)).code).toBe(404);
    expect((await other.admin.get('/metrics')).text).not.toContain('apiserver_flowcontrol_');
    await new FlowLevels(other).bindUsers(users);
    await eventually('the users may write', async () => {
      const answer = await other.admin.post(`${configMaps}?dryRun=All`, configMap('allowed'), impersonating('holder'));
      return answer.code === 201;
    });
    const { limiter } = other.keelson.components;
    await eventually('no write is in flight', () => limiter.inflight.writes === 0);
    const held = holdRequest(other, configMaps, 'holder', configMap('held'));
    await eventually('a write is in flight', () => limiter.inflight.writes === 1);
    const refused = await other.admin.post(configMaps, configMap('refused'), impersonating('holder'));
    expect(refused.code).toBe(429);
    held.cut();
  } finally {
    await other.stop();
  }
});
