import { parseRequestInfo } from '../machinery/request-info.js';
import { ManualClock } from '../std/clock.js';
import { DispatchTurns } from './dispatch-turns.js';
import { Flow } from './flow.js';
import { FlowRequest } from './flow-request.js';
import { FlowSeries } from './flow-series.js';
import { QueueSet } from './queue-set.js';
import { ReadsAndWrites } from './reads-and-writes.js';

const info = parseRequestInfo('GET', '/api/v1/pods');
const user = { name: 'u', uid: '', groups: [], extra: {} };

/** Turns that tests run one by one. */
function world() {
  const clock = new ManualClock();
  const executed: string[] = [];
  /** The number of executed requests at each time when responses were sent. */
  const sent: number[] = [];
  let tasks: (() => void)[] = [];
  const turns = new DispatchTurns(clock, {
    afterReading: (task) => void tasks.push(task),
    afterContinuations: (task) => task(),
    sendFinished: () => void sent.push(executed.length),
  });
  const turn = () => {
    const now = tasks;
    tasks = [];
    for (const task of now) task();
  };
  const levelOf = (name: string, seats: number) => {
    const queuing = { queues: 64, handSize: 1, queueLengthLimit: 50 };
    const level: QueueSet = new QueueSet(name, queuing, clock, () => turns.schedule(level), new ReadsAndWrites(0));
    level.limits = { nominal: seats, lower: seats, upper: seats };
    level.setLimit(seats);
    return level;
  };
  const flowOf = (name: string) => new Flow(name, '', { schema: '', level: '' }, new FlowSeries(name, name));
  /** Admits a request that takes `ms` of the event loop. */
  const admit = (level: QueueSet, flow: Flow, ms: number) => {
    const now = clock.monotonicMs();
    const request = new FlowRequest(flow, level, info, user, now, { initialSeats: 1, finalSeats: 0, lingerMs: 0 });
    level.admit(request, now, turns.isOver(flow, now));
    const run = () => {
      executed.push(flow.schemaName);
      clock.advance(ms);
      request.finish();
    };
    if (request.state === 'executing') run();
    else request.decided = run;
  };
  return { clock, turns, turn, levelOf, flowOf, admit, executed, sent };
}

it('requests of one flow run at once, however many there are', () => {
  const { levelOf, flowOf, admit, executed } = world();
  const [level, flow] = [levelOf('level', 10), flowOf('only')];
  for (let at = 0; at < 100; at++) admit(level, flow, 0.3);
  expect(executed).toHaveLength(100);
});

it('while flows compete, a turn ends after its time and the next one serves the flow with less work first', () => {
  const { levelOf, flowOf, admit, executed, turn } = world();
  const [level, noisy, polite] = [levelOf('level', 1000), flowOf('noisy'), flowOf('polite')];
  admit(level, polite, 0.02);
  for (let at = 0; at < 40; at++) admit(level, noisy, 0.07);
  admit(level, polite, 0.02);
  // One to begin with, then a quarter of a millisecond of the noisy flow.
  expect(executed).toEqual(['polite', 'noisy', 'noisy', 'noisy', 'noisy']);
  turn();
  const second = executed.slice(5);
  expect(second).toContain('polite');
  expect(second.filter((name) => name === 'noisy').length).toBeLessThanOrEqual(4);
  for (let at = 0; at < 20; at++) turn();
  expect(executed).toHaveLength(42);
});

it('priority levels get time of the event loop by their seats', () => {
  const { levelOf, flowOf, admit, executed, turn } = world();
  const [large, small] = [levelOf('large', 30), levelOf('small', 10)];
  const [first, second] = [flowOf('large'), flowOf('small')];
  for (let at = 0; at < 60; at++) {
    admit(large, first, 0.1);
    admit(small, second, 0.1);
  }
  const before = executed.length;
  for (let at = 0; at < 20; at++) turn();
  const dispatched = executed.slice(before);
  const ofLarge = dispatched.filter((name) => name === 'large').length;
  expect(ofLarge / dispatched.length).toBeGreaterThan(0.6);
  expect(ofLarge / dispatched.length).toBeLessThan(0.9);
});

it('flows compete no longer after a second with requests of one flow alone', () => {
  const { clock, levelOf, flowOf, admit, executed } = world();
  const [level, noisy] = [levelOf('level', 1000), flowOf('noisy')];
  admit(level, flowOf('polite'), 0);
  admit(level, noisy, 0);
  clock.advance(1001);
  for (let at = 0; at < 40; at++) admit(level, noisy, 0.3);
  expect(executed).toHaveLength(42);
});

it('requests that wait when flows no longer compete are dispatched in one turn', () => {
  const { clock, levelOf, flowOf, admit, executed, turn } = world();
  const [level, noisy] = [levelOf('level', 1000), flowOf('noisy')];
  admit(level, flowOf('polite'), 0);
  for (let at = 0; at < 100; at++) admit(level, noisy, 0.05);
  turn();
  expect(executed.length).toBeLessThan(20);
  clock.advance(1001);
  turn();
  expect(executed).toHaveLength(101);
  admit(level, noisy, 0.05);
  expect(executed).toHaveLength(102);
});

it('the response to the first request of a turn is sent before the others are dispatched, if it is of another flow', () => {
  const { levelOf, flowOf, admit, executed, sent, turn } = world();
  const [level, noisy, polite] = [levelOf('level', 1000), flowOf('noisy'), flowOf('polite')];
  admit(level, polite, 0.02);
  for (let at = 0; at < 40; at++) admit(level, noisy, 0.07);
  turn();
  const before = executed.length;
  admit(level, polite, 0.02);
  sent.length = 0;
  turn();
  expect(executed[before]).toBe('polite');
  // Before the turn, after the request, and at the end of the turn.
  expect(sent).toEqual([before, before + 1, executed.length]);
  sent.length = 0;
  turn();
  turn();
  // The flow of the last one goes on.
  expect(sent).toHaveLength(4);
});

it('no request begins of which more than half would exceed the time of the turn', () => {
  const { levelOf, flowOf, admit, executed, turn } = world();
  const [level, noisy, polite] = [levelOf('level', 1000), flowOf('noisy'), flowOf('polite')];
  for (const [ms, requests] of [
    [0.2, 1],
    [0.15, 2],
    [0.1, 2],
    [0.05, 5],
  ] as const) {
    admit(level, polite, 0.02);
    for (let at = 0; at < 30; at++) admit(level, noisy, ms);
    const before = executed.length;
    turn();
    expect([ms, executed.length - before]).toEqual([ms, requests]);
    for (let at = 0; at < 40; at++) turn();
  }
});

it('a flow whose request coincides with a garbage collection is served next nevertheless', () => {
  const { levelOf, flowOf, admit, executed, turn } = world();
  const [level, noisy, polite] = [levelOf('level', 1000), flowOf('noisy'), flowOf('polite')];
  for (let at = 0; at < 100; at++) admit(level, noisy, 0.05);
  admit(level, polite, 0.05);
  for (let at = 0; at < 60; at++) admit(level, noisy, 0.05);
  for (const ms of [0.05, 0.05, 80, 0.05]) {
    turn();
    turn();
    admit(level, polite, ms);
    expect(executed.at(-1)).toBe('noisy');
  }
  turn();
  turn();
  expect(executed.filter((name) => name === 'polite')).toHaveLength(5);
});
