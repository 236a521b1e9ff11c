import { once } from 'node:events';
import * as http2 from 'node:http2';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { eventually } from '../harness/eventually.js';
import { FlowLevels, impersonating } from '../harness/flow-levels.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Levels lend and borrow seats several times a second instead of every 10 seconds; other delays are unchanged. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs === 10_000 ? 200 : delayMs, task),
};

let server: TestServer;
let flow: FlowLevels;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { clock });
  flow = new FlowLevels(server);
  await flow.bindUsers(['borrower', 'lender', 'everywhere']);
  await flow.begin();
});
afterAll(() => server?.stop());

const seatsOf = (metric: string, level: string) =>
  flow.valueOf(`apiserver_flowcontrol_${metric}_seats`, `priority_level="${level}"`);
const queues = (queueLengthLimit: number, handSize = 1) => ({
  type: 'Queue',
  queuing: { queues: 64, handSize, queueLengthLimit },
});

it('requests that wait are dispatched with seats that another level lends, and the lender gets them back', async () => {
  const lent = { nominalConcurrencyShares: 5, lendablePercent: 100, limitResponse: queues(50) };
  await flow.create('lending', lent, ['lender']);
  const borrowed = { nominalConcurrencyShares: 1, borrowingLimitPercent: 200, limitResponse: queues(50) };
  await flow.create('borrowing', borrowed, ['borrower']);
  const nominal = (await seatsOf('nominal_limit', 'borrowing'))!;
  expect(await seatsOf('upper_limit', 'borrowing')).toBe(3 * nominal);
  // More requests than the level has seats: those of the second half wait until it has borrowed some.
  const held = await flow.holdSeats('borrowing', 'borrower', 2 * nominal);
  expect(await seatsOf('current_limit', 'borrowing')).toBeGreaterThanOrEqual(2 * nominal);
  expect(await seatsOf('current_limit', 'lending')).toBeLessThanOrEqual((await seatsOf('nominal_limit', 'lending'))!);
  expect(await Promise.all(held.map((request) => request.end()))).toEqual(held.map(() => 201));
  const own = (await seatsOf('nominal_limit', 'lending'))!;
  const lenders = await flow.holdSeats('lending', 'lender', own);
  await eventually('the lender has its own seats', async () => (await seatsOf('current_limit', 'lending'))! >= own);
  expect(new Set(await Promise.all(lenders.map((request) => request.end())))).toEqual(new Set([201]));
});

it("requests in one namespace can't be drowned out by those of the same user in another one (ByNamespace)", async () => {
  const limited = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: queues(2) };
  await flow.create('namespaces', limited, ['everywhere'], { distinguisher: 'ByNamespace' });
  const seats = (await seatsOf('nominal_limit', 'namespaces'))!;
  const held = await flow.holdSeats('namespaces', 'everywhere', seats);
  const list = (namespace: string) => flow.get('everywhere', `/api/v1/namespaces/${namespace}/secrets?timeout=50s`);
  const waiting = (count: number) =>
    eventually(`${count} requests wait`, async () => {
      return (await flow.dumpOf('namespaces'))['WaitingRequests'] === String(count);
    });
  const noisy = [list('default'), list('default')];
  await waiting(2);
  expect((await list('default')).code).toBe(429);
  const polite = list('kube-system');
  await waiting(3);
  await Promise.all(held.map((request) => request.end()));
  expect((await Promise.all([polite, ...noisy])).map(({ code }) => code)).toEqual([200, 200, 200]);
});

it('a watch over HTTP/2 continues after the GOAWAY that another request has caused (--goaway-chance)', async () => {
  const config = { serving: { goawayChance: 0.02 } };
  const other = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  const { certificate: cert, key } = other.keelson.client;
  const session = http2.connect(other.url, { ca: other.keelson.ca, cert, key });
  session.on('error', () => undefined);
  try {
    let hasGoaway = false;
    session.once('goaway', () => (hasGoaway = true));
    const watch = session.request({ ':path': '/api/v1/namespaces?watch=1&resourceVersion=0' });
    let text = '';
    watch.setEncoding('utf8').on('data', (part: string) => (text += part));
    await once(watch, 'response');
    // Each request closes the session with a probability of 2%.
    await eventually('the session is closed', async () => {
      if (hasGoaway || session.closed) return true;
      const stream = session.request({ ':path': '/livez' });
      stream.on('error', () => undefined).resume();
      await once(stream, 'close').catch(() => undefined);
      return hasGoaway || session.closed;
    });
    expect(watch.closed).toBe(false);
    expect((await other.admin.post('/api/v1/namespaces', { metadata: { name: 'after-goaway' } })).code).toBe(201);
    await eventually('the watch has the event', () => text.includes('"after-goaway"'));
  } finally {
    session.destroy();
    await other.stop();
  }
});

it('seats of a level whose requests are cut are free for other users', async () => {
  const limited = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: queues(2) };
  await flow.create('cut', limited, ['borrower', 'lender'], { matchingPrecedence: 500 });
  const seats = (await seatsOf('nominal_limit', 'cut'))!;
  for (let round = 0; round < 3; round++) {
    const held = await flow.holdSeats('cut', 'borrower', seats);
    for (const request of held) request.cut();
    const { code } = await server.admin.get('/api/v1/namespaces/default/secrets', impersonating('lender'));
    expect(code).toBe(200);
  }
  await eventually('no seat is in use', async () => (await flow.dumpOf('cut'))['ExecutingRequests'] === '0');
});
