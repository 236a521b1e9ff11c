import { parseRequestInfo } from '../machinery/request-info.js';
import { ManualClock } from '../std/clock.js';
import { Flow } from './flow.js';
import { FlowRequest } from './flow-request.js';
import { FlowSeries } from './flow-series.js';
import { PacedConnections } from './paced-connections.js';
import { QueueSet } from './queue-set.js';
import { ReadsAndWrites } from './reads-and-writes.js';

const info = parseRequestInfo('GET', '/api/v1/pods');
const user = { name: 'u', uid: '', groups: [], extra: {} };

/** Connections whose clients send the next request after each response. */
function world() {
  const clock = new ManualClock();
  const load = { waiting: 0, isCompeting: true, competes: () => load.isCompeting };
  let tasks: (() => void)[] = [];
  const pacing = new PacedConnections(clock, { afterReading: (task) => void tasks.push(task) }, load);
  const level = new QueueSet(
    'level',
    { queues: 64, handSize: 1, queueLengthLimit: 50 },
    clock,
    () => undefined,
    new ReadsAndWrites(0),
  );
  level.limits = { nominal: 100, lower: 100, upper: 100 };
  level.setLimit(100);
  const flowOf = (name: string) => new Flow(name, '', { schema: '', level: '' }, new FlowSeries(name, name));
  const connection = () => {
    const one = {
      isRead: true,
      destroyed: false,
      pause: () => (one.isRead = false),
      resume: () => (one.isRead = true),
    };
    return one;
  };
  type Connection = ReturnType<typeof connection>;
  /** Admits a request that waits; returns what ends it. */
  const request = (flow: Flow, at: Connection, hasBody = false) => {
    const now = clock.monotonicMs();
    const admitted = new FlowRequest(flow, level, info, user, now, { initialSeats: 1, finalSeats: 0, lingerMs: 0 });
    level.admit(admitted, now, true);
    const paced = pacing.pace(admitted, at);
    if (!hasBody) paced?.began();
    return () => {
      if (admitted.state === 'waiting') level.cancel(admitted);
      paced?.ended();
    };
  };
  const turn = () => {
    const now = tasks;
    tasks = [];
    for (const task of now) task();
  };
  /** A flow with a request on each of its connections, which are answered. */
  const crowd = (name: string, size: number) => {
    const flow = flowOf(name);
    const connections = Array.from({ length: size }, connection);
    const ends = connections.map((each) => request(flow, each));
    turn();
    for (const end of ends) end();
    return { flow, connections, read: () => connections.filter(({ isRead }) => isRead).length };
  };
  /** Admits a request over HTTP/2 that waits; returns what ends it. */
  const streamRequest = (flow: Flow, session: object) => {
    const now = clock.monotonicMs();
    const admitted = new FlowRequest(flow, level, info, user, now, { initialSeats: 1, finalSeats: 0, lingerMs: 0 });
    level.admit(admitted, now, true);
    const paced = pacing.paceStream(admitted, session);
    return () => {
      level.cancel(admitted);
      paced?.ended();
    };
  };
  return {
    clock,
    load,
    flowOf,
    connection,
    request,
    turn,
    crowd,
    pacing,
    streamRequest,
    isIdle: () => tasks.length === 0,
  };
}

it('connections of a crowded flow are read one after the other', () => {
  const { crowd, turn, isIdle } = world();
  const noisy = crowd('noisy', 20);
  // Three connections were answered before the flow was crowded.
  const counts = [noisy.read()];
  for (let at = 0; at < 4; at++) {
    turn();
    counts.push(noisy.read());
  }
  expect(counts).toEqual([3, 4, 5, 6, 7]);
  for (let at = 0; at < 20; at++) turn();
  expect([noisy.read(), isIdle()]).toEqual([20, true]);
});

it('connections of other flows are read all the time', () => {
  const { crowd, request, connection, flowOf, turn } = world();
  const noisy = crowd('noisy', 20);
  const [polite, flow] = [connection(), flowOf('polite')];
  for (let at = 0; at < 5; at++) {
    const end = request(flow, polite);
    turn();
    expect(polite.isRead).toBe(true);
    end();
    expect(polite.isRead).toBe(true);
  }
  expect(noisy.read()).toBeLessThan(20);
});

it('no connection is read while several requests wait, for 50 ms', () => {
  const { crowd, turn, load, clock } = world();
  const noisy = crowd('noisy', 20);
  load.waiting = 4;
  for (let at = 0; at < 5; at++) turn();
  expect(noisy.read()).toBe(3);
  clock.advance(50);
  turn();
  turn();
  expect(noisy.read()).toBe(5);
});

it('all are read again when flows no longer compete', () => {
  const { crowd, turn, load, isIdle } = world();
  const noisy = crowd('noisy', 40);
  load.isCompeting = false;
  turn();
  expect([noisy.read(), isIdle()]).toEqual([40, true]);
});

it('without competition no connection is held', () => {
  const { crowd, load } = world();
  load.isCompeting = false;
  expect(crowd('noisy', 20).read()).toBe(20);
});

it('a connection is not read from its request on, unless the request has a body', () => {
  const { crowd, request, connection, turn } = world();
  const { flow } = crowd('noisy', 20);
  const [withBody, without] = [connection(), connection()];
  const ends = [request(flow, withBody, true), request(flow, without)];
  turn();
  expect([withBody.isRead, without.isRead]).toEqual([true, false]);
  for (const end of ends) end();
  expect([withBody.isRead, without.isRead]).toEqual([false, false]);
});

it('the connection of a rejected request is held', () => {
  const { flowOf, connection, request } = world();
  const flow = flowOf('noisy');
  for (let at = 0; at < 50; at++) request(flow, connection());
  const rejected = connection();
  request(flow, rejected)();
  expect(rejected.isRead).toBe(false);
});

it('connections that close while they are held leave nothing behind', () => {
  const { crowd, request, connection, flowOf, turn, isIdle } = world();
  const noisy = crowd('noisy', 20);
  for (const each of noisy.connections) each.destroyed = true;
  const end = request(noisy.flow, Object.assign(connection(), { destroyed: true }));
  end();
  for (let at = 0; at < 20; at++) turn();
  expect(isIdle()).toBe(true);
  const [next, flow] = [connection(), flowOf('noisy')];
  request(flow, next)();
  expect(next.isRead).toBe(true);
});

describe('an HTTP/2 session', () => {
  /** A session whose flow is crowded, by requests in progress. */
  function crowdedSession() {
    const own = world();
    const [session, flow] = [{}, own.flowOf('noisy')];
    const ends = Array.from({ length: 20 }, () => own.streamRequest(flow, session));
    const handled: number[] = [];
    const arrive = (name: number, stream = { destroyed: false }) =>
      own.pacing.holds(session, stream, () => void handled.push(name));
    return { ...own, session, flow, ends, handled, arrive };
  }

  it('of a crowded flow holds new requests, which are handled in the order of their arrival', () => {
    const { arrive, handled, turn, ends, isIdle } = crowdedSession();
    expect([1, 2, 3, 4, 5].map((name) => arrive(name))).toEqual([true, true, true, true, true]);
    expect(handled).toEqual([]);
    turn();
    expect(handled).toEqual([1]);
    for (const end of ends) end();
    for (let at = 0; at < 4; at++) turn();
    expect(handled).toEqual([1, 2, 3, 4, 5]);
    turn();
    expect([arrive(6), isIdle()]).toEqual([false, true]);
  });

  it('does not handle requests whose streams were closed meanwhile', () => {
    const { arrive, handled, turn } = crowdedSession();
    const stream = { destroyed: false };
    arrive(1, stream);
    arrive(2);
    stream.destroyed = true;
    for (let at = 0; at < 2; at++) turn();
    expect(handled).toEqual([2]);
  });

  it('holds nothing if its last request was of another flow, if flows do not compete, or without a crowd', () => {
    const { arrive, load, session, flow, flowOf, streamRequest, pacing } = crowdedSession();
    expect(pacing.holds({}, { destroyed: false }, () => undefined)).toBe(false);
    load.isCompeting = false;
    expect(arrive(1)).toBe(false);
    load.isCompeting = true;
    streamRequest(flowOf('other'), session);
    expect(arrive(2)).toBe(false);
    streamRequest(flow, session);
    expect(arrive(3)).toBe(true);
  });

  it('handles held requests at once when the server stops, and holds none from then on', () => {
    const { arrive, handled, pacing, crowd, turn } = crowdedSession();
    const { connections, read } = crowd('http1', 20);
    for (const name of [1, 2, 3]) arrive(name);
    pacing.stop();
    expect([handled, read()]).toEqual([[1, 2, 3], connections.length]);
    expect(arrive(4)).toBe(false);
    turn();
    expect(handled).toHaveLength(3);
  });
});
