import { eventOf, eventsOf, HeldSink, lossesFor } from '../../test/harness/audit-events.js';
import type { AuditBatchConfig } from '../config/audit-config.js';
import { ManualClock } from '../std/clock.js';
import { BufferedSink } from './buffered-sink.js';

const plain = { eventsWaitingMax: 10, eventsMax: 1, waitMs: 0, isThrottled: false, burst: 0, batchesPerSecond: 0 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function world(
  batch: Partial<AuditBatchConfig> = {},
  options: { concurrentMax?: number; bytesMax?: number; batchBytesMax?: number } = {},
) {
  const clock = new ManualClock();
  const held = new HeldSink();
  const { losses, logged, counts } = lossesFor(clock);
  const sink = new BufferedSink(held, {
    ...{ batch: { ...plain, ...batch }, clock, losses },
    ...{ concurrentMax: 1, bytesMax: 1e6, batchBytesMax: Infinity, ...options },
  });
  return { clock, held, sink, logged, counts };
}

it('without a throttle all events that wait are written together', async () => {
  const { held, sink } = world();
  expect(sink.process(eventsOf('a'))).toBe(true);
  expect(sink.process(eventsOf('b'))).toBe(true);
  expect(held.batches).toEqual([]);
  await turn();
  sink.process(eventsOf('c', 'd'));
  await turn();
  expect(held.batches).toEqual([['a', 'b']]);
  await held.end();
  await turn();
  expect(held.batches).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

it('an incomplete batch waits for its time, a complete one does not', async () => {
  const { clock, held, sink } = world({ eventsMax: 3, waitMs: 1000, isThrottled: true, burst: 9, batchesPerSecond: 9 });
  sink.process(eventsOf('a', 'b'));
  await turn();
  clock.advance(999);
  expect(held.batches).toEqual([]);
  clock.advance(1);
  expect(held.batches).toEqual([['a', 'b']]);
  await held.end();
  sink.process(eventsOf('c', 'd', 'e', 'f'));
  await turn();
  expect(held.batches.slice(1)).toEqual([['c', 'd', 'e']]);
});

it('a throttle delays batches beyond its burst', async () => {
  const { clock, held, sink } = world({ isThrottled: true, burst: 2, batchesPerSecond: 4 }, { concurrentMax: 9 });
  sink.process(eventsOf('a', 'b', 'c', 'd'));
  await turn();
  expect(held.batches).toEqual([['a'], ['b']]);
  clock.advance(250);
  expect(held.batches).toEqual([['a'], ['b'], ['c']]);
  clock.advance(250);
  expect(held.batches).toHaveLength(4);
});

it('batches beyond those that may be written at the same time wait', async () => {
  const { held, sink } = world({ isThrottled: true, burst: 9, batchesPerSecond: 9 }, { concurrentMax: 2 });
  sink.process(eventsOf('a', 'b', 'c'));
  await turn();
  expect(held.batches).toEqual([['a'], ['b']]);
  await held.end();
  await turn();
  expect(held.batches).toEqual([['a'], ['b'], ['c']]);
});

it('a batch is split at its size', async () => {
  const { bytes } = eventOf();
  const { held, sink } = world({}, { batchBytesMax: 2 * bytes });
  sink.process(eventsOf('id', 'id', 'id'));
  await turn();
  await held.end();
  await turn();
  expect(held.batches).toEqual([['id', 'id'], ['id']]);
});

it.each([
  ['events', { eventsWaitingMax: 2 }, {}],
  ['bytes', {}, { bytesMax: 2 * eventsOf('a')[0]!.bytes }],
])('events beyond the %s of the buffer are lost, counted and logged once', (_what, batch, options) => {
  const { held, sink, counts, logged } = world(batch, options);
  sink.process(eventsOf('a', 'b'));
  expect(sink.process(eventsOf('c'))).toBe(true);
  sink.process(eventsOf('d', 'e'));
  expect(held.batches).toEqual([]);
  expect(counts()).toMatchObject({ 'error_total buffered': 3 });
  expect(logged).toEqual([
    { message: 'audit events were lost', sink: 'buffered', reason: 'the buffer is full', events: 1, auditId: 'c' },
  ]);
});

it('bytes of events that are being written count', async () => {
  const { held, sink, counts } = world({}, { bytesMax: eventsOf('a')[0]!.bytes });
  sink.process(eventsOf('a'));
  await turn();
  sink.process(eventsOf('b'));
  expect(counts()).toMatchObject({ 'error_total buffered': 1 });
  await held.end();
  sink.process(eventsOf('c'));
  await turn();
  expect(held.batches).toEqual([['a'], ['c']]);
});

it('close() waits for all events, without the throttle', async () => {
  const { held, sink, counts } = world({
    eventsMax: 2,
    waitMs: 60_000,
    isThrottled: true,
    burst: 1,
    batchesPerSecond: 0.01,
  });
  sink.process(eventsOf('a', 'b', 'c'));
  const closed = jest.fn();
  const closing = sink.close().then(closed);
  await turn();
  expect(held.batches).toEqual([['a', 'b']]);
  await held.end();
  await turn();
  expect(held.batches).toEqual([['a', 'b'], ['c']]);
  expect(closed).not.toHaveBeenCalled();
  await held.end();
  await closing;
  sink.process(eventsOf('d'));
  expect(counts()).toMatchObject({ 'error_total buffered': 1 });
});

it('abandon() gives up what waits, so that close() ends', async () => {
  const { held, sink, counts } = world();
  sink.process(eventsOf('a'));
  await turn();
  sink.process(eventsOf('b', 'c'));
  const closing = sink.close();
  sink.abandon();
  await closing;
  expect([held.isAbandoned, counts()['error_total buffered']]).toEqual([true, 2]);
});
