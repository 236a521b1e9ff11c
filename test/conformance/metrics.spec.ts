import * as perfHooks from 'node:perf_hooks';
import { startTestServer, type TestServer } from '../harness/servers.js';

/**
 * Metrics that dashboards and alerts of clusters use, with their labels. The requests below give these families
 * samples.
 */
const request = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'];
const families: readonly (readonly [name: string, type: string, labels: readonly string[]])[] = [
  ['apiserver_request_total', 'counter', [...request, 'code', 'dry_run', 'system_client']],
  ['apiserver_request_duration_seconds', 'histogram', [...request, 'dry_run']],
  ['apiserver_request_sli_duration_seconds', 'histogram', request],
  ['apiserver_response_sizes', 'histogram', request],
  ['apiserver_longrunning_requests', 'gauge', request],
  ['apiserver_current_inflight_requests', 'gauge', ['request_kind']],
  ['apiserver_request_body_size_bytes', 'histogram', ['group', 'resource', 'verb']],
  ['field_validation_request_duration_seconds', 'histogram', ['field_validation']],
  ['apiserver_tls_handshake_errors_total', 'counter', []],
  ['apiserver_admission_controller_admission_duration_seconds', 'histogram', ['name', 'operation', 'rejected', 'type']],
  ['apiserver_admission_step_admission_duration_seconds', 'histogram', ['operation', 'rejected', 'type']],
  ['authentication_attempts', 'counter', ['result']],
  ['authentication_duration_seconds', 'histogram', ['result']],
  ['authenticated_user_requests', 'counter', ['username']],
  ['authorization_attempts_total', 'counter', ['result']],
  ['authorization_duration_seconds', 'histogram', ['result']],
  ['apiserver_authorization_decisions_total', 'counter', ['decision', 'name', 'type']],
  ['apiserver_watch_events_total', 'counter', ['group', 'resource', 'version']],
  ['apiserver_watch_events_sizes', 'histogram', ['group', 'resource', 'version']],
  ['apiserver_watch_cache_events_received_total', 'counter', ['group', 'resource']],
  ['apiserver_watch_cache_events_dispatched_total', 'counter', ['group', 'resource']],
  ['apiserver_watch_cache_initializations_total', 'counter', ['group', 'resource']],
  ['apiserver_watch_cache_consistent_read_total', 'counter', ['fallback', 'group', 'resource', 'success']],
  ['apiserver_watch_cache_resource_version', 'gauge', ['group', 'resource']],
  ['watch_cache_capacity', 'gauge', ['group', 'resource']],
  ['apiserver_cache_list_total', 'counter', ['group', 'index', 'resource']],
  ['apiserver_cache_list_returned_objects_total', 'counter', ['group', 'resource']],
  ['apiserver_storage_list_total', 'counter', ['group', 'resource']],
  ['apiserver_resource_objects', 'gauge', ['group', 'resource']],
  ['etcd_requests_total', 'counter', ['group', 'operation', 'resource']],
  ['etcd_request_duration_seconds', 'histogram', ['group', 'operation', 'resource']],
  ['kubernetes_build_info', 'gauge', ['major', 'minor', 'git_version']],
  ['kubernetes_feature_enabled', 'gauge', ['name', 'stage']],
  ['version_info', 'gauge', ['binary', 'component', 'emulation', 'min_compat']],
  ['process_resident_memory_bytes', 'gauge', []],
];

interface Family {
  readonly type: string;
  readonly series: Map<string, number>;
  readonly labels: Set<string>;
}

function parse(text: string): { families: Map<string, Family>; repeated: string[] } {
  const found = new Map<string, Family>();
  const repeated: string[] = [];
  for (const line of text.split('\n')) {
    const head = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (head) found.set(head[1]!, { type: head[2]!, series: new Map(), labels: new Set() });
    const sample = /^([^#\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!sample) continue;
    const [, name = '', labels = '', value = ''] = sample;
    const family = found.get(name) ?? found.get(name.replace(/_(bucket|sum|count)$/, ''));
    if (!family) throw new Error(`a sample without a family: ${line}`);
    const series = `${name}{${labels}}`;
    if (family.series.has(series)) repeated.push(series);
    family.series.set(series, Number(value));
    for (const [, label] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') family.labels.add(label!);
  }
  return { families: found, repeated };
}

describe('metrics', () => {
  let server: TestServer;
  let scraped: ReturnType<typeof parse>;
  const value = (name: string, ...labels: string[]) => {
    const family = scraped.families.get(name.replace(/_(sum|count)$/, ''))!;
    const found = [...family.series].filter(
      ([series]) => series.startsWith(`${name}{`) && labels.every((label) => series.includes(label)),
    );
    return found.reduce((sum, [, each]) => sum + each, 0);
  };

  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
    const { admin } = server;
    const path = '/api/v1/namespaces/default/secrets';
    for (const name of ['a', 'b']) {
      const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name } };
      expect((await admin.post(path, body)).code).toBe(201);
    }
    expect((await admin.get(path)).code).toBe(200);
    expect((await admin.get(`${path}?limit=1`)).code).toBe(200);
    const watch = await admin.open('GET', `${path}?timeoutSeconds=1&watch=1`);
    watch.body.resume();
    expect(await watch.ended).toBe('complete');
    expect((await admin.get('/api/v1/namespaces/default/secrets/none')).code).toBe(404);
    expect((await server.client().get(path)).code).toBe(403);
    const { text } = await admin.get('/metrics');
    scraped = parse(text);
  });
  afterAll(() => server.stop());

  it.each(families)('%s has its labels and samples', (name, type, labels) => {
    const family = scraped.families.get(name);
    expect(family).toMatchObject({ type });
    expect([...family!.labels]).toEqual(expect.arrayContaining([...labels]));
    expect(family!.series.size).toBeGreaterThan(0);
  });

  it('every series occurs once, also for resources in several versions', () => {
    expect(scraped.repeated).toEqual([]);
    const objects = [...scraped.families.get('apiserver_resource_objects')!.series.keys()];
    expect(objects.filter((series) => series.includes('horizontalpodautoscalers'))).toHaveLength(1);
  });

  it('counters count the requests', () => {
    const secrets = 'resource="secrets"';
    expect(value('apiserver_request_body_size_bytes_count', secrets, 'verb="create"')).toBe(2);
    expect(value('apiserver_watch_events_total', secrets)).toBe(2);
    expect(value('apiserver_watch_cache_events_received_total', secrets)).toBe(2);
    expect(value('apiserver_cache_list_total', secrets)).toBe(2);
    expect(value('apiserver_cache_list_returned_objects_total', secrets)).toBe(3);
    expect(value('etcd_requests_total', secrets, 'operation="txn"')).toBe(2);
    expect(value('field_validation_request_duration_seconds_count', 'field_validation="Warn"')).toBe(2);
    expect(value('authorization_attempts_total', 'result="no-opinion"')).toBe(1);
    const step = 'apiserver_admission_step_admission_duration_seconds_count';
    expect(value(step, 'operation="CREATE"', 'type="admit"', 'rejected="false"')).toBeGreaterThanOrEqual(2);
  });
});

test('20 servers of one process, each scraped, observe garbage collection and event loop at most once', async () => {
  const observe = jest.spyOn(perfHooks.PerformanceObserver.prototype, 'observe');
  const monitor = jest.spyOn(perfHooks, 'monitorEventLoopDelay');
  const names = ['nodejs_eventloop_lag_seconds', 'nodejs_gc_duration_seconds', 'apiserver_request_total'];
  for (let n = 0; n < 20; n++) {
    const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
    try {
      const answer = await server.admin.get('/metrics');
      expect([answer.code, [...parse(answer.text).families.keys()]]).toEqual([200, expect.arrayContaining(names)]);
    } finally {
      await server.stop();
    }
  }
  expect(observe.mock.calls.length).toBeLessThanOrEqual(1);
  expect(monitor.mock.calls.length).toBeLessThanOrEqual(1);
});
