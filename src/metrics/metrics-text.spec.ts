import { ManualClock } from '../std/clock.js';
import { atOnce } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import { Buckets, single, type MetricFamily } from './metric-family.js';
import { metricsText } from './metrics-text.js';

const linesOf = (...families: MetricFamily[]) => atOnce(metricsText(families)).trimEnd().split('\n');

test('a histogram is written with le last, one sum and one count a series', () => {
  const buckets = new Buckets([0.5, 1]);
  for (const value of [0.2, 0.7, 9]) buckets.observe(value);
  const samplesOf = function* () {
    yield* buckets.samples({ verb: 'GET' });
    yield* new Buckets([1]).samples({});
  };
  expect(linesOf({ name: 'seconds', type: 'histogram', help: 'Time.', samples: samplesOf })).toEqual([
    '# HELP seconds Time.',
    '# TYPE seconds histogram',
    'seconds_bucket{verb="GET",le="0.5"} 1',
    'seconds_bucket{verb="GET",le="1"} 2',
    'seconds_bucket{verb="GET",le="+Inf"} 3',
    'seconds_sum{verb="GET"} 9.9',
    'seconds_count{verb="GET"} 3',
    'seconds_bucket{le="1"} 0',
    'seconds_bucket{le="+Inf"} 0',
    'seconds_sum 0',
    'seconds_count 0',
  ]);
});

test.each([
  ['a\\b', 'a\\\\b'],
  ['two\nlines', 'two\\nlines'],
  ['a "quoted" word', 'a \\"quoted\\" word'],
])('the label value %j is written as "%s"', (value, text) => {
  const samples = () => [{ labels: { a: value, b: '' }, value: 1 }];
  expect(linesOf({ name: 'n', type: 'gauge', help: 'h', samples })[2]).toBe(`n{a="${text}",b=""} 1`);
});

test.each([
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
  [1e21, '1e+21'],
])('the value %d is written as %s', (value, text) => {
  expect(linesOf(single('n', 'gauge', 'h', () => value))[2]).toBe(`n ${text}`);
});

test('other requests run while 100,000 samples are written', async () => {
  const clock = new ManualClock();
  let turns = 0;
  const countTurns = (): void => {
    turns++;
    if (turns < 1000) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const samples = function* () {
    for (let at = 0; at < 100_000; at++) {
      clock.advance(0.01);
      yield { labels: { at: String(at) }, value: at };
    }
  };
  const text = await new YieldTimer(clock).run(metricsText([{ name: 'n', type: 'gauge', help: 'h', samples }]));
  expect(text.split('\n')).toHaveLength(100_003);
  expect(turns).toBeGreaterThan(50);
  turns = 1000;
});
