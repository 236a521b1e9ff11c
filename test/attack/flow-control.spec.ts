import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { eventually } from '../harness/eventually.js';
import { FlowLevels, impersonating } from '../harness/flow-levels.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Clients that try to keep seats, queues or the event loop from others. After each of them, no seat is in use.
const configMaps = '/api/v1/namespaces/default/configmaps';
/** A request waits for a quarter of it, at most a minute: long enough for a busy machine. */
const requestTimeoutMs = 240_000;
const threeSeats = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0 };
const queueing = { type: 'Queue', queuing: { queues: 64, handSize: 4, queueLengthLimit: 50 } };

let server: TestServer;
let flow: FlowLevels;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: { requestTimeoutMs } });
  flow = new FlowLevels(server);
  await flow.bindUsers(['holder', 'polite', 'watcher', 'half']);
  await flow.begin();
});
afterEach(async () => {
  // The request for the metrics has a seat of the exempt level.
  const inUse = async (metric: string) => {
    const series = await flow.series(`apiserver_flowcontrol_${metric}`);
    expect(series.length).toBeGreaterThan(5);
    return series.filter(([name, value]) => value !== 0 && !name.includes('priority_level="exempt"'));
  };
  for (const metric of [
    ...['current_executing_requests', 'current_executing_seats'],
    ...['current_inqueue_requests', 'current_inqueue_seats'],
  ]) {
    await eventually(`${metric} is 0`, async () => (await inUse(metric)).length === 0);
  }
});
afterAll(() => server?.stop());

it('requests of a thousand users at once are answered or rejected, and leave no series behind', async () => {
  const limited = {
    ...threeSeats,
    limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 } },
  };
  await flow.create('crowd', limited, ['*'], { matchingPrecedence: 2000 });
  const held = await flow.holdSeats('crowd', 'holder', 3);
  const clients = Array.from({ length: 20 }, () => server.client(server.keelson.client));
  const codes: number[] = [];
  const attack = clients.map(async (client, lane) => {
    for (let at = 0; at < 50; at++) {
      const { code } = await client.get('/version?timeout=20s', impersonating(`attacker-${lane}-${at}`));
      codes.push(code);
    }
  });
  // Other levels have seats of their own.
  for (let at = 0; at < 20; at++) {
    const { code } = await server.admin.get(configMaps, impersonating('system:kube-scheduler'));
    expect(code).not.toBe(429);
  }
  expect(await Promise.all(held.map((request) => request.end()))).toEqual([201, 201, 201]);
  await Promise.all(attack);
  expect(codes).toHaveLength(1000);
  expect(codes.filter((code) => code !== 200 && code !== 429)).toEqual([]);
  const series = await flow.series('apiserver_flowcontrol_dispatched_requests_total');
  expect(series.filter(([name]) => name.includes('priority_level="crowd"'))).toHaveLength(1);
  expect(series.some(([name]) => name.includes('attacker'))).toBe(false);
  await flow.remove('crowd');
});

it('clients that disconnect while their requests wait leave their queues', async () => {
  await flow.create('leaving', { ...threeSeats, limitResponse: queueing }, ['holder', 'polite']);
  const held = await flow.holdSeats('leaving', 'holder', 3);
  const waiting = Array.from({ length: 100 }, (_, at) => flow.hold('holder', `leaving-${at}`));
  const isWaiting = (count: number) => async () => (await flow.dumpOf('leaving'))['WaitingRequests'] === String(count);
  await eventually('all of them wait', isWaiting(100));
  for (const request of waiting) request.cut();
  await eventually('none of them waits', isWaiting(0));
  expect((await flow.dumpOf('leaving'))['CancelledRequests']).toBe('100');
  const polite = flow.get('polite', configMaps);
  expect(await Promise.all(held.map((request) => request.end()))).toEqual([201, 201, 201]);
  expect((await polite).code).toBe(200);
  // All three seats can be used again.
  for (const request of await flow.holdSeats('leaving', 'polite', 3)) request.cut();
});

describe('half a request', () => {
  it('has no seat while its head is incomplete', async () => {
    await flow.create('half-heads', { ...threeSeats, limitResponse: { type: 'Reject' } }, ['half']);
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket()));
    for (const socket of sockets) {
      socket.write(`GET ${configMaps} HTTP/1.1\r\nHost: localhost\r\nImpersonate-User: half\r\nImpersonate-Gr`);
    }
    for (let at = 0; at < 10; at++) expect((await flow.get('half', configMaps)).code).toBe(200);
    await eventually('no seat is in use', async () => (await flow.dumpOf('half-heads'))['ExecutingRequests'] === '0');
    for (const socket of sockets) socket.destroy();
  });

  it('has its seat until its deadline while its body is incomplete', async () => {
    await flow.create('half-bodies', { ...threeSeats, limitResponse: queueing }, ['half']);
    const late = Array.from({ length: 3 }, (_, at) => flow.hold('half', `half-${at}`, '?timeout=1s'));
    await eventually('all seats are in use', async () => {
      const { ExecutingRequests, DispatchedRequests } = await flow.dumpOf('half-bodies');
      return ExecutingRequests === '3' || Number(DispatchedRequests) > 3;
    });
    // The rest of their bodies is never sent: their deadline frees the seats, and the waiting request gets one.
    expect((await flow.get('half', configMaps)).code).toBe(200);
    for (const request of late) request.cut();
  });
});

it('watches that begin at the same time wait for seats, open, and have none afterwards', async () => {
  await flow.create('watching', { ...threeSeats, limitResponse: queueing }, ['watcher', 'polite']);
  const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const opening = Array.from({ length: 150 }, () =>
    server.admin.watch(`${configMaps}?${query}`, impersonating('watcher')),
  );
  const polite = await flow.get('polite', configMaps);
  expect(polite.code).toBe(200);
  const watches = await Promise.all(opening);
  for (const watch of watches) expect((await watch.next())?.type).toMatch(/^(ADDED|BOOKMARK)$/);
  await eventually('no seat is in use', async () => (await flow.dumpOf('watching'))['ExecutingRequests'] === '0');
  for (const watch of watches) watch.close();
});

async function openSocket(): Promise<TLSSocket> {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.keelson.client;
  const socket = connect({ host: hostname, port: Number(port), ca: server.keelson.ca, cert, key });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}
