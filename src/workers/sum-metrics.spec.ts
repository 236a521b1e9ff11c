import { sumMetrics } from './sum-metrics.js';

const page = (...lines: string[]) => `${lines.join('\n')}\n`;

test.each([
  { name: 'counters', type: 'counter', metric: 'apiserver_request_total', values: [3, 4], sum: 7 },
  { name: 'buckets of histograms', type: 'histogram', metric: 'apiserver_x_bucket{le="+Inf"}', values: [3, 4], sum: 7 },
  { name: 'requests in flight', type: 'gauge', metric: 'apiserver_current_inflight_requests', values: [1, 2], sum: 3 },
  { name: 'objects, which all have', type: 'gauge', metric: 'apiserver_resource_objects', values: [5, 4], sum: 5 },
  { name: 'the worst health', type: 'gauge', metric: 'kubernetes_healthcheck', values: [1, 0], sum: 0 },
  { name: 'the latest start of events', type: 'gauge', metric: 'x_last_timestamp_seconds', values: [10, 12], sum: 12 },
  { name: 'the longest lag', type: 'gauge', metric: 'nodejs_eventloop_lag_p99_seconds', values: [0.5, 0.25], sum: 0.5 },
  { name: 'infinite values', type: 'gauge', metric: 'apiserver_y', values: ['+Inf', 1], sum: '+Inf' },
])('metrics of two processes: $name', ({ type, metric, values, sum }) => {
  const name = metric.replace(/(_bucket)?(\{.*)?$/, '');
  const pages = values.map((value) => page(`# HELP ${name} Text.`, `# TYPE ${name} ${type}`, `${metric} ${value}`));
  expect(sumMetrics(pages)).toBe(page(`# HELP ${name} Text.`, `# TYPE ${name} ${type}`, `${metric} ${sum}`));
});

test('series of one process, and families of one process, are kept', () => {
  const first = page('# HELP a A.', '# TYPE a counter', 'a{x="1 2"} 1', '# HELP b B.', '# TYPE b counter', 'b 1');
  const second = page('# HELP a A.', '# TYPE a counter', 'a{x="3"} 2', '# HELP c C.', '# TYPE c counter', 'c 1');
  expect(sumMetrics([first, second])).toBe(
    page(
      ...['# HELP a A.', '# TYPE a counter', 'a{x="1 2"} 1', 'a{x="3"} 2'],
      ...['# HELP b B.', '# TYPE b counter', 'b 1', '# HELP c C.', '# TYPE c counter', 'c 1'],
    ),
  );
});
