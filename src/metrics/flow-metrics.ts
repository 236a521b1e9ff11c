import type { FlowControl } from '../flow/flow-control.js';
import type { FlowSeries } from '../flow/flow-series.js';
import type { Histogram } from '../std/histogram.js';
import type { PriorityLevel } from '../flow/priority-level.js';
import type { RatioHistogram } from '../flow/ratio-histogram.js';
import type { Clock } from '../std/clock.js';
import { family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

const prefix = 'apiserver_flowcontrol_';

/** Returns the metrics of priority and fairness with the names of kube-apiserver, computed at scrape time. */
export function flowFamilies(control: FlowControl | undefined, clock: Clock): MetricFamily[] {
  if (!control) return [];
  return [
    ...requestFamilies(control),
    ...durationFamilies(control),
    ...seatFamilies(control),
    ...demandFamilies(control),
    ...ratioFamilies(control, clock),
    ...progressFamilies(control),
  ];
}

type Buckets = Pick<Histogram, 'bounds' | 'counts' | 'sum'>;
type SeriesSamples = (series: FlowSeries, labels: Labels) => Iterable<Sample>;

/** Returns a family with the labels of FlowSchema and priority level. */
function perSchema(
  control: FlowControl,
  name: string,
  type: MetricFamily['type'],
  help: string,
  samplesOf: SeriesSamples,
): MetricFamily {
  return family(prefix + name, type, help, function* () {
    for (const series of control.allSeries) {
      yield* samplesOf(series, { flow_schema: series.schemaName, priority_level: series.levelName });
    }
  });
}

type LevelSamples = (level: PriorityLevel, labels: Labels) => Iterable<Sample>;

function perLevel(
  control: FlowControl,
  name: string,
  type: MetricFamily['type'],
  help: string,
  samplesOf: LevelSamples,
): MetricFamily {
  return family(prefix + name, type, help, function* () {
    for (const level of control.levels.values()) yield* samplesOf(level, { priority_level: level.name });
  });
}

function requestFamilies(control: FlowControl): MetricFamily[] {
  const gauge = (name: string, help: string, read: (series: FlowSeries) => number) =>
    perSchema(control, name, 'gauge', help, (series, labels) => [{ labels, value: read(series) }]);
  return [
    gauge(
      'current_executing_requests',
      '[BETA] Requests that occupy seats: until the end, of watches until they are open.',
      ({ executing }) => executing,
    ),
    gauge('current_executing_seats', '[BETA] Seats in use.', ({ executingSeats }) => executingSeats),
    gauge('current_inqueue_requests', '[BETA] Requests that wait in queues.', ({ waiting }) => waiting),
    gauge('current_inqueue_seats', '[ALPHA] Seats that waiting requests need.', ({ waitingSeats }) => waitingSeats),
    perSchema(
      control,
      'dispatched_requests_total',
      'counter',
      '[BETA] Requests that were executed.',
      (series, labels) => (series.dispatched > 0 ? [{ labels, value: series.dispatched }] : []),
    ),
    perSchema(
      control,
      'rejected_requests_total',
      'counter',
      '[BETA] Requests that were rejected with 429, by reason.',
      ({ rejected }, labels) => Array.from(rejected, ([reason, value]) => ({ labels: { ...labels, reason }, value })),
    ),
    perSchema(
      control,
      'request_dispatch_no_accommodation_total',
      'counter',
      '[ALPHA] Attempts to dispatch a request that needed more seats than were free.',
      ({ unaccommodated }, labels) => (unaccommodated > 0 ? [{ labels, value: unaccommodated }] : []),
    ),
  ];
}

function durationFamilies(control: FlowControl): MetricFamily[] {
  const histogram = (name: string, help: string, samplesOf: SeriesSamples) =>
    perSchema(control, name, 'histogram', help, samplesOf);
  const labelled = (buckets: Histogram | undefined, labels: Labels, own: Labels) =>
    buckets ? histogramSamples(buckets, { ...labels, ...own }) : [];
  return [
    histogram('request_wait_duration_seconds', '[BETA] Time in a queue, in seconds.', (series, labels) => [
      ...labelled(series.rejectedWaitSeconds, labels, { execute: 'false' }),
      ...labelled(series.waitSeconds, labels, { execute: 'true' }),
    ]),
    histogram('request_execution_seconds', '[ALPHA] Time with seats, in seconds.', (series, labels) => [
      ...labelled(series.requestSeconds, labels, { type: 'regular' }),
      ...labelled(series.watchSeconds, labels, { type: 'watch' }),
    ]),
    histogram(
      'request_queue_length_after_enqueue',
      '[ALPHA] Requests in the queue that a request was added to.',
      (series, labels) => labelled(series.queueLengths, labels, {}),
    ),
    histogram('watch_count_samples', '[ALPHA] Watches that a write concerns.', (series, labels) =>
      labelled(series.concernedWatches, labels, {}),
    ),
    histogram('work_estimated_seats', '[ALPHA] Estimated seats of requests.', (series, labels) =>
      series.seats.counts.some((count) => count > 0) ? histogramSamples(series.seats, labels) : [],
    ),
  ];
}

function seatFamilies(control: FlowControl): MetricFamily[] {
  const gauge = (name: string, help: string, read: (level: PriorityLevel) => number) =>
    perLevel(control, name, 'gauge', help, (level, labels) => [{ labels, value: read(level) }]);
  return [
    gauge(
      'nominal_limit_seats',
      '[BETA] Seats of a priority level by its shares.',
      ({ queues }) => queues.limits.nominal,
    ),
    gauge(
      'lower_limit_seats',
      '[ALPHA] Seats that a priority level does not lend.',
      ({ queues }) => queues.limits.lower,
    ),
    gauge('upper_limit_seats', '[ALPHA] Seats that a priority level has at most.', ({ queues }) => queues.limits.upper),
    gauge('current_limit_seats', '[ALPHA] Seats after lending and borrowing.', ({ queues }) => queues.limit),
    gauge(
      'target_seats',
      '[ALPHA] Seats that the last adjustment aimed at.',
      ({ name, queues }) => control.adjustment.targets.get(name) ?? queues.limit,
    ),
    family(`${prefix}seat_fair_frac`, 'gauge', '[ALPHA] Fraction of its target that each priority level got.', () => [
      { labels: {}, value: control.adjustment.fairFraction },
    ]),
  ];
}

function demandFamilies(control: FlowControl): MetricFamily[] {
  const gauge = (name: string, what: string, read: (level: PriorityLevel) => number) =>
    perLevel(control, name, 'gauge', `[ALPHA] ${what} of the seats in use and waited for.`, (level, labels) => [
      { labels, value: read(level) },
    ]);
  return [
    gauge('demand_seats_average', 'Average', ({ queues }) => queues.demand.average),
    gauge('demand_seats_high_watermark', 'Maximum', ({ queues }) => queues.demand.highWatermark),
    gauge('demand_seats_stdev', 'Standard deviation', ({ queues }) => queues.demand.deviation),
    gauge('demand_seats_smoothed', 'Smoothed demand', ({ queues }) => queues.demand.smoothed),
  ];
}

function ratioFamilies(control: FlowControl, clock: Clock): MetricFamily[] {
  const histogram = (name: string, help: string, samplesOf: LevelSamples) =>
    perLevel(control, name, 'histogram', `EXPERIMENTAL: [ALPHA] ${help}`, (level, labels) => {
      level.queues.fold(clock.monotonicMs());
      return samplesOf(level, labels);
    });
  const phase = (ratio: RatioHistogram, labels: Labels, name: string) =>
    histogramSamples(ratio, { phase: name, ...labels });
  return [
    histogram('demand_seats', 'Nanoseconds by demanded seats, as a fraction of the limit.', ({ queues }, labels) =>
      histogramSamples(queues.demandRatio, labels),
    ),
    histogram(
      'priority_level_request_utilization',
      'Nanoseconds by waiting and executing requests, as a fraction of their limit.',
      ({ queues }, labels) => [
        ...phase(queues.executingRatio, labels, 'executing'),
        ...phase(queues.waitingRatio, labels, 'waiting'),
      ],
    ),
    histogram(
      'priority_level_seat_utilization',
      'Nanoseconds by seats in use, as a fraction of the limit.',
      ({ queues }, labels) => phase(queues.seatRatio, labels, 'executing'),
    ),
    readWriteFamily(control, clock),
  ];
}

function readWriteFamily(control: FlowControl, clock: Clock): MetricFamily {
  const help = 'EXPERIMENTAL: [ALPHA] Nanoseconds by requests, as a fraction of the limit of all levels.';
  return family(`${prefix}read_vs_write_current_requests`, 'histogram', help, function* () {
    for (const [phase, kind, ratio] of control.readsAndWrites.entries(clock.monotonicMs())) {
      yield* histogramSamples(ratio, { phase, request_kind: kind });
    }
  });
}

/** The progress of fair queueing, in seat-seconds. */
function progressFamilies(control: FlowControl): MetricFamily[] {
  const gauge = (name: string, help: string, samplesOf: LevelSamples) =>
    perLevel(control, name, 'gauge', `[ALPHA] ${help}`, samplesOf);
  const bounds = (labels: Labels, min: number, max: number): Sample[] => [
    { labels: { bound: 'max', ...labels }, value: max },
    { labels: { bound: 'min', ...labels }, value: min },
  ];
  return [
    gauge('current_r', 'Progress meter R.', ({ queues }, labels) => [{ labels, value: queues.currentR }]),
    gauge('dispatch_r', 'R at the last dispatch from a queue.', ({ queues: { lastDispatch } }, labels) =>
      lastDispatch ? [{ labels, value: lastDispatch.r }] : [],
    ),
    gauge('latest_s', 'Start tag of the last dispatch from a queue.', ({ queues: { lastDispatch } }, labels) =>
      lastDispatch ? [{ labels, value: lastDispatch.start }] : [],
    ),
    gauge('next_s_bounds', 'Bounds of the start tags of queues.', ({ queues: { lastDispatch } }, labels) =>
      lastDispatch ? bounds(labels, lastDispatch.startMin, lastDispatch.startMax) : [],
    ),
    gauge(
      'next_discounted_s_bounds',
      'Bounds of the start tags of queues, less their work in progress.',
      ({ queues: { lastDispatch } }, labels) =>
        lastDispatch ? bounds(labels, lastDispatch.discountedMin, lastDispatch.discountedMax) : [],
    ),
  ];
}

function* histogramSamples({ bounds, counts, sum }: Buckets, labels: Labels): Iterable<Sample> {
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    const bound = bounds[at];
    yield { labels, le: bound === undefined ? '+Inf' : String(bound), value: total, suffix: '_bucket' };
  }
  yield { labels, value: sum, suffix: '_sum' };
  yield { labels, value: total, suffix: '_count' };
}
