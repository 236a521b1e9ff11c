import { parseRequestInfo } from '../machinery/request-info.js';
import { ManualClock } from '../std/clock.js';
import { Flow } from './flow.js';
import { FlowRequest } from './flow-request.js';
import { FlowSeries } from './flow-series.js';
import { QueueSet, type Queuing } from './queue-set.js';
import { ReadsAndWrites } from './reads-and-writes.js';

const info = parseRequestInfo('GET', '/api/v1/pods');
const user = { name: 'u', uid: '', groups: [], extra: {} };

/** A level whose waiting requests are dispatched by dispatchAll(). */
function levelWith(queuing: Queuing, limit: number) {
  const clock = new ManualClock();
  let scheduled = 0;
  const level = new QueueSet('level', queuing, clock, () => void scheduled++, new ReadsAndWrites(clock.monotonicMs()));
  level.limits = { nominal: limit, lower: limit, upper: limit };
  level.setLimit(limit);
  const series = new FlowSeries('schema', 'level');
  const flows = new Map<string, Flow>();
  const flow = (name: string): Flow => {
    if (!flows.has(name)) flows.set(name, new Flow('schema', name, { schema: '', level: '' }, series));
    return flows.get(name)!;
  };
  const executed: string[] = [];
  const start = (name: string, { seats = 1, finalSeats = 0, lingerMs = 0, defers = false } = {}) => {
    const work = { initialSeats: seats, finalSeats, lingerMs };
    const request = new FlowRequest(flow(name), level, info, user, clock.monotonicMs(), work);
    const reason = level.admit(request, clock.monotonicMs(), defers);
    if (request.state === 'waiting') request.decided = (executes) => executes && executed.push(name);
    return { request, reason };
  };
  const dispatchAll = () => {
    const from = executed.length;
    while (level.dispatch(clock.monotonicMs()));
    return executed.slice(from);
  };
  return { clock, level, series, start, dispatchAll, scheduled: () => scheduled };
}

const rejecting: Queuing = { queues: 0, handSize: 0, queueLengthLimit: 0 };
const oneQueue: Queuing = { queues: 1, handSize: 1, queueLengthLimit: 2 };
const manyQueues: Queuing = { queues: 64, handSize: 1, queueLengthLimit: 50 };

it('a level that rejects has requests up to its seats, then rejects, then has seats again', () => {
  const { level, series, start } = levelWith(rejecting, 3);
  const [first, second] = [start('a'), start('b', { seats: 2 })];
  expect([first.request.state, second.request.state, level.seatsInUse]).toEqual(['executing', 'executing', 3]);
  expect(start('c').reason).toBe('concurrency-limit');
  second.request.finish();
  second.request.finish();
  expect([level.seatsInUse, level.running.length]).toEqual([1, 1]);
  expect(start('c').request.state).toBe('executing');
  expect([level.dispatched, level.rejected, series.rejected.get('concurrency-limit')]).toEqual([3, 1, 1]);
});

it('a request that is wider than the level, or of a level without seats, runs alone', () => {
  const wide = levelWith(rejecting, 2);
  const { request } = wide.start('a', { seats: 5 });
  expect(request.state).toBe('executing');
  expect(wide.start('b').reason).toBe('concurrency-limit');
  const none = levelWith(rejecting, 0);
  expect(none.start('a').request.state).toBe('executing');
  expect(none.start('a').reason).toBe('concurrency-limit');
});

it('an exempt level has no limit', () => {
  const { level, start } = levelWith({ queues: -1, handSize: 0, queueLengthLimit: 0 }, 0);
  for (let at = 0; at < 50; at++) expect(start('a', { defers: true }).request.state).toBe('executing');
  expect(level.running.length).toBe(50);
});

it('requests wait in their queue in order of arrival, up to its length', () => {
  const { level, start, dispatchAll, scheduled } = levelWith(oneQueue, 1);
  const running = start('a').request;
  const states = [start('b'), start('c'), start('d')].map(({ request, reason }) => reason ?? request.state);
  expect(states).toEqual(['waiting', 'waiting', 'queue-full']);
  expect(dispatchAll()).toEqual([]);
  const before = scheduled();
  running.finish();
  expect(scheduled()).toBe(before + 1);
  expect(dispatchAll()).toEqual(['b']);
  expect([level.waiting, level.seatsInUse, level.queues[0]!.work]).toEqual([1, 1, 0.003]);
});

it('requests wait for their turn although seats are free, and the queue is bounded by the seats that are demanded', () => {
  const { level, start, dispatchAll } = levelWith(oneQueue, 3);
  const states = ['a', 'b', 'c', 'd'].map((name) => start(name, { defers: true }));
  expect(states.map(({ request, reason }) => reason ?? request.state)).toEqual([
    ...['waiting', 'waiting', 'waiting', 'queue-full'],
  ]);
  expect(dispatchAll()).toEqual(['a', 'b', 'c']);
  expect(level.seatsInUse).toBe(3);
});

it('a flow with one request is served before the backlog of another flow', () => {
  const { start, dispatchAll, level } = levelWith(manyQueues, 2);
  for (let at = 0; at < 40; at++) start('noisy', { defers: true });
  level.dispatch(0);
  level.dispatch(0);
  start('polite', { defers: true });
  for (const request of [...level.running]) request.finish();
  expect(dispatchAll()).toContain('polite');
});

it('two flows with a backlog get the same work, not the same number of requests', () => {
  const { clock, start, level } = levelWith(manyQueues, 4);
  for (let at = 0; at < 50; at++) {
    start('wide', { seats: 4, defers: true });
    start('narrow', { defers: true });
  }
  const count = { wide: 0, narrow: 0 };
  for (let at = 0; at < 50; at++) {
    const request = level.dispatch(clock.monotonicMs())!;
    count[request.flow.distinguisher as 'wide' | 'narrow']++;
    clock.advance(3);
    request.finish();
  }
  expect(count.wide).toBeGreaterThanOrEqual(9);
  expect(count.wide).toBeLessThanOrEqual(11);
});

it('a flow with one short request at a time is served next each time, although another flow has six queues', () => {
  const { clock, start, level } = levelWith({ queues: 64, handSize: 6, queueLengthLimit: 50 }, 100);
  for (let at = 0; at < 120; at++) start('noisy', { defers: true });
  let executed = 0;
  const execute = () => {
    const next = level.dispatch(clock.monotonicMs())!;
    level.charge(next, 0.0002 + executed++ / 1e7);
    next.finish();
    return next.flow.distinguisher;
  };
  for (let at = 0; at < 20; at++) execute();
  for (let round = 0; round < 10; round++) {
    start('polite', { defers: true });
    expect([execute(), execute()]).toContain('polite');
  }
});

it('a queue is not starved after a long request', () => {
  const { clock, start, level } = levelWith(manyQueues, 10);
  const { request } = start('long', { seats: 10 });
  clock.advance(60_000);
  request.finish();
  for (let at = 0; at < 40; at++) start('other', { defers: true });
  start('long', { defers: true });
  const order: string[] = [];
  for (let at = 0; at < 41; at++) {
    const next = level.dispatch(clock.monotonicMs())!;
    order.push(next.flow.distinguisher);
    clock.advance(3);
    next.finish();
  }
  expect(order.indexOf('long')).toBeLessThan(40);
});

it('a request that is cancelled while it waits leaves its queue and is rejected', () => {
  const { level, series, start, dispatchAll } = levelWith(oneQueue, 1);
  const running = start('a').request;
  const waiting = start('b').request;
  let decision: boolean | undefined;
  waiting.decided = (executes) => (decision = executes);
  waiting.finish();
  expect([decision, level.waiting, level.cancelled, series.rejected.get('time-out')]).toEqual([false, 0, 1, 1]);
  running.finish();
  expect(dispatchAll()).toEqual([]);
  expect([level.isIdle, level.seatsInUse, level.waitingSeats]).toEqual([true, 0, 0]);
});

it('the final seats of a write are released after the time for its watchers', () => {
  const { clock, level, start, dispatchAll } = levelWith(oneQueue, 10);
  const write = start('a', { finalSeats: 4, lingerMs: 20 }).request;
  expect(level.seatsInUse).toBe(4);
  write.finish();
  expect([level.running.length, level.seatsInUse]).toEqual([0, 4]);
  clock.advance(20);
  expect(level.seatsInUse).toBe(0);
  // A dispatched write with more final seats than the level has gets fewer, for a longer time.
  level.setLimit(5);
  const blocking = start('b').request;
  const wide = start('c', { finalSeats: 10, lingerMs: 10 }).request;
  expect(wide.state).toBe('waiting');
  blocking.finish();
  expect(dispatchAll()).toEqual(['c']);
  expect([wide.finalSeats, wide.lingerMs]).toEqual([5, 20]);
});

it('queues are added at once and removed when they are empty', () => {
  const { level, start } = levelWith({ queues: 2, handSize: 1, queueLengthLimit: 5 }, 9);
  level.configure({ queues: 4, handSize: 2, queueLengthLimit: 5 });
  expect(level.queues).toHaveLength(4);
  const requests = Array.from({ length: 8 }, (_, at) => start(`flow-${at}`).request);
  expect(new Set(requests.map(({ queue }) => queue!.index))).toContain(3);
  level.configure({ queues: 1, handSize: 1, queueLengthLimit: 5 });
  expect(level.queues.length).toBe(4);
  for (const request of requests) request.finish();
  expect(level.queues).toHaveLength(1);
});

it('of queues with the same work, that of a flow that is not crowded is next', () => {
  const { start, dispatchAll } = levelWith(manyQueues, 10);
  // Each order of arrival, since queues are tried in turn.
  for (const names of [
    ['noisy', 'polite'],
    ['polite', 'noisy'],
  ]) {
    for (const name of names) start(name, { defers: true }).request.isCrowded = name === 'noisy';
    expect(dispatchAll()).toEqual(['polite', 'noisy']);
  }
});
