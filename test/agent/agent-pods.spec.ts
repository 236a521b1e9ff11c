import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const runtime = new CriRuntimeProcess();
const files = new ClientKubeconfigs();
let server: TestServer;
let agent: TestAgent;
let client: HttpClient;
let uid: string;

beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const created = await server.admin.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'web-1', labels: { app: 'web' } },
    spec: { nodeName: 'node-1', automountServiceAccountToken: false, containers: [{ name: 'app', image: 'a:1' }] },
  });
  expect(created.code).toBe(201);
  ({ uid } = (created.body as { metadata: { uid: string } }).metadata);
  await runtime.start({
    pods: [
      {
        ...{ namespace: 'default', name: 'web-1', uid, ip: '10.0.0.7' },
        containers: [
          { name: 'app', image: 'a:1', attempt: 1 },
          { name: 'app', state: 'exited', exitCode: 137, startedMs: 1_600_000_000_000, finishedMs: 1_600_000_001_000 },
        ],
      },
      {
        ...{ namespace: 'kube-system', name: 'etcd-node-1', uid: 'static-1', labels: { tier: 'control-plane' } },
        ...{ isReady: false, containers: [{ name: 'etcd', state: 'exited' as const }] },
      },
    ],
  });
  const kubeconfig = files.kubeconfig(server.keelson, {
    'client-certificate-data': Buffer.from(server.keelson.client.certificate).toString('base64'),
    'client-key-data': Buffer.from(server.keelson.client.key).toString('base64'),
  });
  agent = await startTestAgent([`--container-runtime-endpoint=${runtime.endpoint}`, `--kubeconfig=${kubeconfig}`]);
  client = agent.client();
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
  await server.stop();
  files.remove();
});
beforeEach(() => runtime.set({ behaviour: {} }));

interface ListedPod {
  metadata: object;
  spec: object;
  status: object;
}
const pods = async (path: string) => (await client.get(path)).body as { kind: string; items: ListedPod[] };

it('/pods merges the Pods of the API server with the states of their containers', async () => {
  const { kind, items } = await pods('/pods');
  expect(kind).toBe('PodList');
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({
    metadata: { name: 'web-1', uid, labels: { app: 'web' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'a:1' }] },
    status: {
      phase: 'Running',
      podIP: '10.0.0.7',
      hostIP: '127.0.0.1',
      containerStatuses: [
        {
          name: 'app',
          ready: true,
          restartCount: 1,
          state: { running: {} },
          lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: '2020-09-13T12:26:41Z' } },
          containerID: expect.stringMatching(/^stand-in:\/\/[0-9a-f]{64}$/) as unknown,
        },
      ],
    },
  });
});

it('/pods shows a Pod that only the runtime has, without the labels of the runtime', async () => {
  const { items } = await pods('/pods/');
  expect(items[1]).toMatchObject({
    metadata: { name: 'etcd-node-1', namespace: 'kube-system', labels: { tier: 'control-plane' } },
    status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }] },
  });
  expect(Object.keys((items[1]!.metadata as { labels: object }).labels)).toEqual(['tier']);
});

it('/runningpods/ shows the Pods that run', async () => {
  expect((await pods('/runningpods/')).items).toMatchObject([{ metadata: { name: 'web-1' } }]);
});

it.each(['error', 'garbage', 'unimplemented'] as const)(
  '/pods with a runtime that answers %s is a 500',
  async (all) => {
    await runtime.set({ behaviour: { all } });
    expect((await client.get('/pods')).code).toBe(500);
    expect((await client.get('/healthz')).code).toBe(200);
  },
);

it('/stats/summary shows the machine and its Pods', async () => {
  const { body } = await client.get('/stats/summary');
  expect(body).toMatchObject({
    node: {
      nodeName: 'node-1',
      cpu: { usageCoreNanoSeconds: expect.any(Number) as unknown },
      fs: { capacityBytes: expect.any(Number) as unknown },
      runtime: { imageFs: { usedBytes: 123_456 } },
    },
    pods: [
      {
        podRef: { name: 'web-1', namespace: 'default', uid },
        containers: [
          {
            name: 'app',
            cpu: { usageNanoCores: 250_000_000, usageCoreNanoSeconds: 12_000_000_000 },
            memory: { workingSetBytes: 64 * 1024 * 1024 },
            rootfs: { usedBytes: 4096 },
          },
        ],
        network: { name: 'eth0', rxBytes: 1000, txBytes: 2000 },
      },
    ],
  });
});

it('/stats/summary?only_cpu_and_memory=true leaves out the rest', async () => {
  const { node, pods: shown } = (await client.get('/stats/summary?only_cpu_and_memory=true')).body as {
    node: object;
    pods: object[];
  };
  expect(Object.keys(node).sort()).toEqual(['cpu', 'memory', 'nodeName', 'startTime']);
  expect(shown[0]).not.toHaveProperty('network');
});

it.each([
  [
    '/metrics/resource',
    /^container_cpu_usage_seconds_total\{container="app",namespace="default",pod="web-1"\} 12 \d{13}$/m,
  ],
  ['/metrics/resource', /^node_memory_working_set_bytes \d+ \d{13}$/m],
  ['/metrics/resource', /^resource_scrape_error 0$/m],
  ['/metrics/cadvisor', /^container_memory_rss\{container="app",id="[0-9a-f]{64}",namespace="default",pod="web-1"\} /m],
  ['/metrics/cadvisor', /^machine_cpu_cores \d+$/m],
  ['/metrics/probes', /^process_start_time_seconds \d/m],
  ['/metrics', /^kubelet_runtime_operations_total\{operation_type="list_pod_sandbox"\} \d+$/m],
  [
    '/metrics',
    /^kubelet_http_requests_total\{long_running="false",method="GET",path="pods",server_type="readwrite"\} /m,
  ],
  ['/metrics', /^kubelet_node_name\{node="node-1"\} 1$/m],
])('%s has the line %s', async (path, line) => {
  const answer = await client.get(path);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(answer.text).toMatch(line);
});

it.each(['/metrics/resource', '/metrics/cadvisor', '/stats/summary'])(
  '%s shows the machine alone while the runtime fails',
  async (path) => {
    await runtime.set({ behaviour: { all: 'error' } });
    const answer = await client.get(path);
    expect(answer.code).toBe(200);
    expect(answer.text).not.toContain('web-1');
    if (path === '/metrics/resource') expect(answer.text).toMatch(/^resource_scrape_error 1$/m);
  },
);

it('/configz shows the options in the fields of a KubeletConfiguration', async () => {
  expect((await client.get('/configz')).body).toMatchObject({
    kubeletconfig: {
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false, cacheTTL: '120s' } },
      authorization: { mode: 'AlwaysAllow' },
      maxPods: 110,
    },
  });
});

it('/spec shows the machine', async () => {
  const { body } = await client.get('/spec/');
  expect(body).toMatchObject({
    num_cores: expect.any(Number) as unknown,
    memory_capacity: expect.any(Number) as unknown,
  });
});
