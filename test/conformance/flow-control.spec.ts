import type { FlowSchema, PriorityLevelConfiguration } from '../../src/catalog/types/flowcontrol.v1.js';
import { eventually } from '../harness/eventually.js';
import { holdRequest } from '../harness/held-requests.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const dumps = '/debug/api_priority_and_fairness';
const configMaps = '/api/v1/namespaces/default/configmaps';

let server: TestServer;
/** Names of objects by uid. */
let names: ReadonlyMap<string, string>;

beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  await bindUsers(server);
  await eventually('the objects of a new cluster are in force', async () => {
    await learnNames();
    return flowOf(await get('somebody', '/version')) === 'global-default/global-default';
  });
  await eventually('the users may read', async () => (await get('holder', configMaps)).code === 200);
});
afterAll(() => server?.stop());

/** Lets users do everything without being in system:masters. */
async function bindUsers({ admin }: TestServer): Promise<void> {
  const subjects = ['holder', 'waiter', 'other', 'highqps', 'lowqps'].map((name) => ({ kind: 'User', name }));
  const { code } = await admin.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'flow-control-users' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects,
  });
  expect(code).toBe(201);
}

async function learnNames(): Promise<void> {
  const lists = await Promise.all([server.admin.get(levels), server.admin.get(schemas)]);
  const objects: (FlowSchema | PriorityLevelConfiguration)[] = lists.flatMap(({ body }) => body.items);
  names = new Map(objects.map(({ metadata }) => [metadata.uid ?? '', metadata.name ?? '']));
}

const as = (user: string, ...groups: string[]) => ({
  'impersonate-user': user,
  'impersonate-group': ['system:authenticated', ...groups],
});
const get = (user: string, path: string, ...groups: string[]) => server.admin.get(path, as(user, ...groups));

/** The FlowSchema and the priority level in the headers of an answer. */
function flowOf({ headers }: Answer): string {
  const name = (header: string) => names.get(String(headers[header])) ?? 'none';
  return `${name('x-kubernetes-pf-flowschema-uid')}/${name('x-kubernetes-pf-prioritylevel-uid')}`;
}

/** Cells of a row of dump_priority_levels, by column. */
async function dumpOf(level: string): Promise<Record<string, string>> {
  const { text } = await server.admin.get(`${dumps}/dump_priority_levels`);
  const [header = [], ...rows] = text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()));
  const row = rows.find(([name]) => name === level) ?? [];
  return Object.fromEntries(header.map((column, at) => [column, row[at] ?? '']));
}

async function valueOf(metric: string, ...labels: string[]): Promise<number | undefined> {
  const { text } = await server.admin.get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
  const found = lines.find((line) => labels.every((label) => line.includes(label)));
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(' ')));
}

/** Creates a level and a FlowSchema for users, and waits until they are in force. */
async function createLevel(name: string, limited: object, users: readonly string[], matchingPrecedence = 1000) {
  const level = { metadata: { name }, spec: { type: 'Limited', limited } };
  const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }];
  const rule = {
    subjects: users.map((user) => ({ kind: 'User', user: { name: user } })),
    resourceRules: everything,
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
  const spec = {
    matchingPrecedence,
    priorityLevelConfiguration: { name },
    distinguisherMethod: { type: 'ByUser' },
    rules: [rule],
  };
  expect((await server.admin.post(levels, level)).code).toBe(201);
  expect((await server.admin.post(schemas, { metadata: { name }, spec })).code).toBe(201);
  await eventually(`the level ${name} is in force`, async () => {
    await learnNames();
    return flowOf(await get(users[0]!, '/version')) === `${name}/${name}`;
  });
}

async function removeLevel(name: string): Promise<void> {
  await server.admin.delete(`${schemas}/${name}`);
  await server.admin.delete(`${levels}/${name}`);
}

const reject = { type: 'Reject' };
const oneQueue = { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } };
const manyQueues = { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } };
/** One of the shares of a new cluster: three seats of 600. */
const threeSeats = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0 };

/** Begins requests of a user until it occupies `count` seats of a level. */
async function holdSeats(level: string, user: string, count: number) {
  const held = Array.from({ length: count }, (_, at) =>
    holdRequest(server, configMaps, user, configMap(`${level}-${user}-${at}`)),
  );
  await eventually(`${count} requests hold seats`, async () => {
    const { text } = await server.admin.get(`${dumps}/dump_requests?includeRequestDetails=1`);
    const rows = text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()));
    const own = rows.filter((row) => row[0] === level && row[3] === '-1' && row[10] === user && row[11] === 'create');
    return own.length === count;
  });
  return held;
}

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
  ])('GET by %s %j of %s is of %s', async (user, groups, path, flow, code) => {
    const answer = await get(user, path, ...groups);
    expect([answer.code, flowOf(answer)]).toEqual([code, flow]);
  });

  it('an answer to a client without valid credentials has none (401)', async () => {
    const { code, headers } = await server.client({ token: 'unknown' }).get('/api/v1/pods');
    expect([code, headers['x-kubernetes-pf-flowschema-uid']]).toEqual([401, undefined]);
  });

  it('a watch has them, and occupies no seat once it is open', async () => {
    const watch = await server.admin.watch(`${configMaps}?resourceVersion=0`, as('other'));
    const answer = { headers: watch.headers } as Answer;
    expect(flowOf(answer)).toBe('global-default/global-default');
    await eventually('the seat is released', async () => (await dumpOf('global-default'))['ExecutingRequests'] === '0');
    watch.close();
  });
});

// Cases of the end-to-end tests of Kubernetes, with requests that are held open instead of a load for a time.
describe('API priority and fairness', () => {
  it('should ensure that requests can be classified by adding FlowSchema and PriorityLevelConfiguration', async () => {
    await createLevel('e2e-testing', { nominalConcurrencyShares: 1, limitResponse: reject }, ['noxu']);
    const level = await server.admin.get(`${levels}/e2e-testing`);
    const schema = await server.admin.get(`${schemas}/e2e-testing`);
    const { headers } = await get('noxu', '/version');
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(level.body.metadata.uid);
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(schema.body.metadata.uid);
    expect(flowOf(await get('foo', '/version'))).toBe('global-default/global-default');
    expect(await valueOf('apiserver_flowcontrol_nominal_limit_seats', 'priority_level="e2e-testing"')).toBe(3);
    await removeLevel('e2e-testing');
  });

  it("should ensure that requests can't be drowned out (priority)", async () => {
    await createLevel('highqps', { ...threeSeats, limitResponse: reject }, ['highqps'], 999);
    await createLevel('lowqps', { ...threeSeats, limitResponse: reject }, ['lowqps'], 1000);
    const held = await holdSeats('highqps', 'highqps', 3);
    for (let at = 0; at < 20; at++) {
      const [high, low] = await Promise.all([get('highqps', '/version'), get('lowqps', '/version')]);
      expect([high.code, low.code, flowOf(high), flowOf(low)]).toEqual([429, 200, 'highqps/highqps', 'lowqps/lowqps']);
    }
    expect(await Promise.all(held.map((request) => request.end()))).toEqual([201, 201, 201]);
    expect((await get('highqps', '/version')).code).toBe(200);
    await removeLevel('highqps');
    await removeLevel('lowqps');
  });

  it("should ensure that requests can't be drowned out (fairness)", async () => {
    const queuing = { queues: 64, handSize: 1, queueLengthLimit: 2 };
    const response = { type: 'Queue', queuing };
    await createLevel('fairness', { ...threeSeats, limitResponse: response }, ['highqps', 'lowqps']);
    const held = await holdSeats('fairness', 'highqps', 3);
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
    await removeLevel('fairness');
  });
});

describe('a level without free seats', () => {
  it('is answered with 429 in plain text, if it does not queue', async () => {
    await createLevel('rejecting', { ...threeSeats, limitResponse: reject }, ['holder']);
    const held = await holdSeats('rejecting', 'holder', 3);
    const { code, text, headers } = await get('holder', configMaps);
    expect([code, text]).toEqual([429, 'Too many requests, please try again later.\n']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'retry-after': expect.stringMatching(/^\d+$/) as string,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    });
    const labels = ['priority_level="rejecting"', 'reason="concurrency-limit"'];
    expect(await valueOf('apiserver_flowcontrol_rejected_requests_total', ...labels)).toBe(1);
    // Members of system:masters are exempt.
    expect((await get('holder', configMaps, 'system:masters')).code).toBe(200);
    for (const request of held) request.cut();
    await eventually('the seats are free', async () => (await dumpOf('rejecting'))['ExecutingRequests'] === '0');
    expect((await get('holder', configMaps)).code).toBe(200);
    await removeLevel('rejecting');
  });

  it('queues requests, shows them, and dispatches them when seats are free', async () => {
    await createLevel('queueing', { ...threeSeats, limitResponse: oneQueue }, ['holder', 'waiter']);
    const held = await holdSeats('queueing', 'holder', 3);
    const waiting = get('waiter', '/version?timeout=50s');
    await eventually('a request waits', async () => (await dumpOf('queueing'))['WaitingRequests'] === '1');
    const full = await get('waiter', '/version');
    expect([full.code, flowOf(full)]).toEqual([429, 'queueing/queueing']);
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
    await removeLevel('queueing');
  });

  it('rejects a request after a quarter of its time, and forgets one whose client disconnects', async () => {
    await createLevel('patience', { ...threeSeats, limitResponse: oneQueue }, ['holder', 'waiter']);
    const held = await holdSeats('patience', 'holder', 3);
    const late = await get('waiter', '/version?timeout=400ms');
    expect([late.code, late.text]).toEqual([429, 'Too many requests, please try again later.\n']);
    const leaving = holdRequest(server, configMaps, 'waiter', configMap('never'));
    await eventually('the next request waits', async () => (await dumpOf('patience'))['WaitingRequests'] === '1');
    leaving.cut();
    await eventually('it is gone', async () => (await dumpOf('patience'))['WaitingRequests'] === '0');
    expect(await dumpOf('patience')).toMatchObject({ RejectedRequests: '2', CancelledRequests: '2' });
    await Promise.all(held.map((request) => request.end()));
    await removeLevel('patience');
  });

  it('is removed with its object once its requests have ended', async () => {
    await createLevel('removed', { ...threeSeats, limitResponse: reject }, ['holder']);
    const held = await holdSeats('removed', 'holder', 1);
    await server.admin.delete(`${levels}/removed`);
    await eventually('it ends', async () => (await dumpOf('removed'))['IsQuiescing'] === 'true');
    expect(flowOf(await get('holder', '/version'))).toBe('global-default/global-default');
    await held[0]!.end();
    await eventually('it has ended', async () => (await dumpOf('removed'))['PriorityLevelName'] === '');
    await eventually('its FlowSchema is dangling', async () => {
      const { body } = await server.admin.get(`${schemas}/removed`);
      return body.status.conditions[0].status === 'True';
    });
    await removeLevel('removed');
  });
});

it('a request of one user is answered before most of 200 requests of another user that came before', async () => {
  await createLevel('shared', { nominalConcurrencyShares: 100, limitResponse: manyQueues }, ['highqps', 'lowqps']);
  const noisy = Array.from({ length: 200 }, () => server.client(server.keelson.client));
  const list = (client: HttpClient) => client.get(configMaps, as('highqps'));
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
  await removeLevel('shared');
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
    await bindUsers(other);
    await eventually('the users may write', async () => {
      const answer = await other.admin.post(`${configMaps}?dryRun=All`, configMap('allowed'), as('holder'));
      return answer.code === 201;
    });
    const { limiter } = other.keelson.components;
    await eventually('no write is in flight', () => limiter.inflight.writes === 0);
    const held = holdRequest(other, configMaps, 'holder', configMap('held'));
    await eventually('a write is in flight', () => limiter.inflight.writes === 1);
    const refused = await other.admin.post(configMaps, configMap('refused'), as('holder'));
    expect(refused.code).toBe(429);
    held.cut();
  } finally {
    await other.stop();
  }
});
