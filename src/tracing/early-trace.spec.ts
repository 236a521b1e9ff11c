import { ManualClock } from '../std/clock.js';
import { EarlyTrace } from './early-trace.js';
import { RecordedTrace } from './recorded-trace.js';
import type { Span } from './span.js';

const rng = { below: (bound: number) => Math.floor(Math.random() * bound), uuid: () => '' };
const request = {
  startMs: 0,
  spanName: 'GET',
  verbSpan: undefined,
  attributes: {},
  verbAttributes: () => ({}),
};

function world(isSampled: boolean) {
  const clock = new ManualClock();
  const early = new EarlyTrace({ clock, rng, samples: () => isSampled });
  const ended: Span[] = [];
  const record = () =>
    new RecordedTrace(
      request,
      { parent: undefined, link: undefined },
      { clock, rng, ended: (span) => ended.push(span), leftOut: () => undefined },
      early,
    );
  return { clock, early, ended, record };
}

it('a call that goes on after authentication ends in the trace of its request', () => {
  const { clock, early, ended, record } = world(true);
  const call = early.beginCall('Call', { a: 1 });
  call.event('first');
  clock.advance(5);
  const trace = record();
  call.event('second');
  call.end('failed', 7);
  const [span] = ended;
  expect(span).toMatchObject({ name: 'Call', error: 'failed', endMs: 7, attributes: { a: 1 } });
  expect(span?.events?.map(({ name }) => name)).toEqual(['first', 'second']);
  expect(call.headers['traceparent']).toBe(`00-${trace.traceId}-${span?.id}-01`);
});

it('calls before the user is known share a context, and know whether it is sampled', () => {
  const { early } = world(false);
  expect(early.context).toBeUndefined();
  const parents = [1, 2].map(() => early.beginCall('Call', {}).headers['traceparent']);
  expect(parents.map((parent) => parent?.slice(3, 35))).toEqual([early.context?.traceId, early.context?.traceId]);
  expect(parents.map((parent) => parent?.slice(-2))).toEqual(['00', '00']);
});

it('calls and events beyond the bounds of an unauthenticated request are not recorded', () => {
  const { early, ended, record } = world(true);
  const calls = Array.from({ length: 100 }, () => early.beginCall('Call', {}));
  for (let i = 0; i < 1_000; i++) calls[0]!.event('again');
  expect(early.calls).toHaveLength(16);
  record();
  for (const call of calls) call.end();
  expect(ended).toHaveLength(16);
  expect(ended[0]?.events).toHaveLength(32);
});
