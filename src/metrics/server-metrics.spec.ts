import { registryOf } from '../../test/harness/shell.js';
import { stopServing } from '../../test/harness/stop-serving.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import { defaultTable } from '../registry/definition/table.js';
import { ManualClock } from '../std/clock.js';
import { ServerMetrics } from './server-metrics.js';
import { RequestMetrics } from './request-metrics.js';
import { buildFamilies } from './computed-metrics.js';
import { cacheFamilies } from './cache-metrics.js';
import { StorageMetrics } from './storage-metrics.js';
import { WatchMetrics } from './watch-metrics.js';
import type { MetricFamily } from './metric-family.js';
import { versionDocument } from '../config/version-document.js';

const pods = defineResource({
  ...{
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    strategy: { validateName: () => [] },
    table: defaultTable,
  },
  subresources: { status: { type: 'view', verbs: ['get'], view: (o) => o, put: (o) => o } },
});

const things = defineResource({
  ...{ group: 'a.example', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false },
  ...{ storagePrefix: 'a.example/things', strategy: { validateName: () => [] }, table: defaultTable },
});

interface Call {
  method?: string;
  url: string;
  type?: string;
  code?: number;
  seconds?: number;
}

function requestMetrics() {
  const metrics = new RequestMetrics(registryOf([pods]));
  const call = ({ method = 'GET', url, type, code = 200, seconds = 0.01 }: Call) => {
    const info = parseRequestInfo(method, url);
    metrics.end(info, type, metrics.begin(info, type), { code, seconds, sentBytes: 100 });
  };
  const samples = (name: string) => [
    ...metrics
      .families()
      .find((family) => family.name === name)!
      .samples(),
  ];
  return { metrics, call, samples };
}

describe('labels of requests', () => {
  const inCore = {
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    component: 'apiserver',
    dry_run: '',
    system_client: '',
    code: '200',
  };
  const outside = {
    group: '',
    version: '',
    resource: '',
    subresource: '',
    component: '',
    scope: '',
    dry_run: '',
    system_client: '',
    code: '200',
  };
  const other = { ...outside, verb: 'other' };
  it.each<[Call, Record<string, string>]>([
    [{ url: '/api/v1/pods' }, { ...inCore, verb: 'LIST', scope: 'cluster' }],
    [{ url: '/api/v1/namespaces/a/pods' }, { ...inCore, verb: 'LIST', scope: 'namespace' }],
    [{ url: '/api/v1/namespaces/a/pods?watch=1' }, { ...inCore, verb: 'WATCH', scope: 'namespace' }],
    [{ url: '/api/v1/namespaces/a/pods/x' }, { ...inCore, verb: 'GET', scope: 'resource' }],
    [
      { url: '/api/v1/namespaces/a/pods/x/status' },
      { ...inCore, verb: 'GET', scope: 'resource', subresource: 'status' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods', method: 'POST', code: 201 },
      { ...inCore, verb: 'POST', scope: 'resource', code: '201' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods?dryRun=All', method: 'POST' },
      { ...inCore, verb: 'POST', scope: 'resource', dry_run: 'All' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods?dryRun=x', method: 'POST' },
      { ...inCore, verb: 'POST', scope: 'resource', dry_run: 'invalid' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods/x', method: 'PATCH', type: 'application/merge-patch+json' },
      { ...inCore, verb: 'PATCH', scope: 'resource' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods/x', method: 'PATCH', type: 'application/apply-patch+yaml' },
      { ...inCore, verb: 'APPLY', scope: 'resource' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods', method: 'DELETE' },
      { ...inCore, verb: 'DELETECOLLECTION', scope: 'namespace' },
    ],
    [{ url: '/livez/ping' }, { ...outside, verb: 'GET', subresource: '/livez' }],
    [
      { url: '/version', method: 'POST' },
      { ...outside, verb: 'POST', subresource: '/version' },
    ],
    [
      { url: '/api/v1/things', code: 404 },
      { ...other, code: '404' },
    ],
    [{ url: '/apis/a.example/v1/namespaces/a/pods' }, other],
    [{ url: '/api/v1/namespaces/a/pods/x/nothing' }, other],
    [{ url: '/wp-admin' }, other],
    [
      { url: '/version', method: 'constructor' },
      { ...outside, verb: 'other', subresource: '/version' },
    ],
    [
      { url: '/version', method: '__proto__' },
      { ...outside, verb: 'other', subresource: '/version' },
    ],
    [
      { url: '/api/v1/namespaces/a/pods/x', method: 'toString' },
      { ...inCore, verb: 'other', scope: 'resource' },
    ],
  ])('of %j', (given, want) => {
    const { call, samples } = requestMetrics();
    call(given);
    expect(samples('apiserver_request_total')).toEqual([{ labels: want, value: 1 }]);
  });

  it('are bounded by the served resources, whatever clients request', () => {
    const { call, samples } = requestMetrics();
    for (let i = 0; i < 50; i++) call({ url: `/api/v1/made-up-${i}/x` });
    for (let i = 0; i < 50; i++) call({ url: `/api/v1/namespaces/n-${i}/pods/p-${i}` });
    expect(samples('apiserver_request_total').map(({ value }) => value)).toEqual([50, 50]);
  });
});

it('counts requests in flight, and watches separately', () => {
  const { metrics, samples } = requestMetrics();
  const [read, write, watch] = [
    ['GET', '/api/v1/pods'],
    ['POST', '/api/v1/namespaces/a/pods'],
    ['GET', '/api/v1/pods?watch=true'],
  ].map(([method, url]) => parseRequestInfo(method!, url!));
  const running = [read, write, watch].map((info) => metrics.begin(info!, undefined));
  const inflight = () => samples('apiserver_current_inflight_requests').map(({ value }) => value);
  const watches = () =>
    samples('apiserver_longrunning_requests').map(({ labels, value }) => [labels['verb'], labels['resource'], value]);
  expect([inflight(), watches()]).toEqual([[1, 1], [['WATCH', 'pods', 1]]]);
  [read, write, watch].forEach((info, at) =>
    metrics.end(info!, undefined, running[at], { code: 200, seconds: 1, sentBytes: 0 }),
  );
  expect([inflight(), watches()]).toEqual([[0, 0], [['WATCH', 'pods', 0]]]);
});

it('apiserver_request_sli_duration_seconds leaves out watches and adds up dry runs', () => {
  const { call, samples } = requestMetrics();
  call({ url: '/api/v1/namespaces/a/pods', method: 'POST', seconds: 0.3 });
  call({ url: '/api/v1/namespaces/a/pods?dryRun=All', method: 'POST', seconds: 70 });
  call({ url: '/api/v1/pods?watch=1', seconds: 300 });
  const objectives = samples('apiserver_request_sli_duration_seconds');
  const bucket = (le: string) => objectives.filter((sample) => sample.le === le).map(({ value }) => value);
  expect([bucket('0.2'), bucket('0.4'), bucket('60'), bucket('+Inf')]).toEqual([[0], [1], [1], [2]]);
  expect(objectives.find(({ suffix }) => suffix === '_sum')!.value).toBeCloseTo(70.3);
});

it('/metrics is valid Prometheus text without duplicate samples', async () => {
  const { metrics, call } = requestMetrics();
  call({ url: '/api/v1/pods' });
  const storage = new StorageMetrics('/registry/', registryOf([pods, things]));
  storage.observe('get', 0.002, 'ok', '/registry/pods/ns/a');
  storage.observe('get', 0.2, 'unavailable', '/registry/pods/ns/b');
  storage.observe('txn', 0.2, 'conflict', '/registry/a.example/things/a');
  storage.observe('revision', 0.1, 'ok', '');
  const all = new ServerMetrics(new ManualClock(), { withProcess: true });
  all.add(
    ...metrics.families(),
    ...storage.families(),
    ...cacheFamilies(registryOf([pods])),
    ...buildFamilies(versionDocument()),
  );
  const lines = (await all.text()).split('\n');
  const duration =
    'verb="LIST",scope="cluster",component="apiserver",group="",version="v1",resource="pods",subresource=""';
  expect(lines).toContain('# TYPE apiserver_request_duration_seconds histogram');
  expect(lines.filter((line) => line.startsWith('apiserver_request_duration_seconds_count')).map(labelsOf)).toEqual([
    labelsOf(`{${duration},dry_run=""}`),
  ]);
  expect(lines).toContain('etcd_requests_total{operation="get",group="",resource="pods"} 2');
  expect(lines).toContain('etcd_request_errors_total{operation="get",group="",resource="pods"} 1');
  expect(lines).toContain('etcd_request_errors_total{operation="txn",group="a.example",resource="things"} 0');
  expect(lines).toContain('etcd_requests_total{operation="revision",group="",resource=""} 1');
  expect(lines).toContain('apiserver_resource_objects{group="",resource="pods"} 0');
  expect(lines).toContain('hidden_metrics_total 1');
  expect(lines).toContain('registered_metrics_total{stability_level="STABLE",deprecated_version="1.34"} 1');
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'nodejs_eventloop_lag_seconds',
    'kubernetes_build_info',
  ]) {
    expect(lines.filter((line) => line.startsWith(`# TYPE ${name} `))).toHaveLength(1);
  }
  // Every line is a comment or a sample, and samples are unique.
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of samples) expect(line).toMatch(/^[a-z_:A-Z0-9]+(\{.*\})? (-?[0-9.e+-]+|Nan|\+Inf)$/);
  const names = samples.map((line) => line.slice(0, line.lastIndexOf(' ')));
  expect(new Set(names).size).toBe(names.length);
});

function labelsOf(line: string): string[] {
  return line
    .slice(line.indexOf('{') + 1, line.indexOf('}'))
    .split(',')
    .sort();
}

test('requests for a kind that is no longer served are counted in the series of unknown ones', () => {
  const registry = registryOf([pods]);
  const metrics = new RequestMetrics(registry);
  const get = () => {
    const info = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/x');
    metrics.end(info, undefined, metrics.begin(info, undefined), {
      code: 200,
      seconds: 1,
      sentBytes: 1,
    });
  };
  const totals = () =>
    Array.from(metrics.families()[0]!.samples(), ({ labels, value }) => [labels['verb'], labels['resource'], value]);
  get();
  get();
  expect(totals()).toEqual([['GET', 'pods', 2]]);
  stopServing(registry, '', 'v1');
  expect(totals()).toEqual([['other', '', 2]]);
  get();
  expect(totals()).toEqual([['other', '', 3]]);
});

describe('metrics of a kind that is no longer served', () => {
  const samplesOf = (families: MetricFamily[], name: string) =>
    Array.from(families.find((family) => family.name === name)!.samples(), ({ labels, value }) => [
      ...Object.values(labels),
      value,
    ]);

  test('calls of the store are counted without a resource, and by resource when it is served again', () => {
    const registry = registryOf([pods, things]);
    const served = registry.findVersion('a.example', 'v1')!;
    const storage = new StorageMetrics('/registry/', registry);
    const get = () => storage.observe('get', 0.1, 'error', '/registry/a.example/things/x');
    const totals = () => samplesOf(storage.families(), 'etcd_request_errors_total');
    get();
    storage.observe('get', 0.1, 'ok', '/registry/pods/a/x');
    get();
    expect(totals()).toEqual([
      ['get', '', 'pods', 0],
      ['get', 'a.example', 'things', 2],
    ]);
    stopServing(registry, 'a.example', 'v1');
    get();
    expect(totals()).toEqual([
      ['get', '', 'pods', 0],
      ['get', '', '', 3],
    ]);
    registry.replaceVersions([served]);
    get();
    expect(totals()).toEqual([
      ['get', '', 'pods', 0],
      ['get', 'a.example', 'things', 1],
      ['get', '', '', 3],
    ]);
  });

  test('events of watches are counted without a resource, also those of watches that are still open', () => {
    const registry = registryOf([pods, things]);
    const watches = new WatchMetrics(registry);
    const [sentPods, sentThings] = [pods, things].map(({ group, version, plural }) =>
      watches.sentOf({ group, version, resource: plural }),
    );
    const totals = () => samplesOf(watches.families(), 'apiserver_watch_events_total');
    for (const sent of [sentPods!, sentThings!]) sent(100);
    expect(totals()).toEqual([
      ['', 'v1', 'pods', 1],
      ['a.example', 'v1', 'things', 1],
    ]);
    stopServing(registry, 'a.example', 'v1');
    sentThings!(2000);
    expect(totals()).toEqual([
      ['', 'v1', 'pods', 1],
      ['', '', '', 2],
    ]);
  });

  test('ten kinds that came and went leave the same number of series as one', () => {
    const count = (kinds: number) => {
      const registry = registryOf([pods]);
      const [storage, watches] = [new StorageMetrics('/registry/', registry), new WatchMetrics(registry)];
      for (let n = 0; n < kinds; n++) {
        const [group, storagePrefix] = [`g${n}.example`, `g${n}.example/things`];
        const served = registryOf([{ ...things, group, storagePrefix }]).findVersion(group, 'v1')!;
        registry.replaceVersions([served]);
        storage.observe('get', 0.1, 'ok', `/registry/${storagePrefix}/x`);
        watches.sentOf({ group, version: 'v1', resource: 'things' })(1);
        registry.replaceVersions([{ ...served, resources: [] }]);
      }
      return [...storage.families(), ...watches.families()].flatMap((family) => [...family.samples()]).length;
    };
    expect(count(10)).toBe(count(1));
  });
});
