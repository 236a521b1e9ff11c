import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import type { Step } from '../../scripts/kubectl/step.js';
import { packageRoot } from '../../src/config/config-files.js';
import { AggregatedServer, type ReceivedRequest } from '../harness/aggregated-server.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { ownAddress } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// metrics-server by its published manifests, as they are. The test stands in for its Pod: a server at the endpoint of the
// Service, with the answers of metrics-server.

const apiVersion = 'metrics.k8s.io/v1beta1';
const sample = { timestamp: '2026-01-02T03:04:05Z', window: '20s' };
const nodeMetrics = {
  ...{ kind: 'NodeMetrics', apiVersion, metadata: { name: 'node-1' }, ...sample },
  usage: { cpu: '250m', memory: '1024Mi' },
};
const podMetrics = {
  ...{ kind: 'PodMetrics', apiVersion, metadata: { name: 'web', namespace: 'default' }, ...sample },
  containers: [{ name: 'app', usage: { cpu: '5m', memory: '32Mi' } }],
};
const resource = (name: string, kind: string, namespaced: boolean) => ({
  ...{ name, singularName: '', namespaced, kind, verbs: ['get', 'list'] },
});

const kubectls = findKubectls(packageRoot);
const address = ownAddress();
if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('top is not tested', () => undefined));
} else if (address === undefined) {
  describe.skip('this machine has only loopback addresses', () => it('top is not tested', () => undefined));
} else describe.each(kubectls)('metrics-server with kubectl $version', (kubectl) => topOf(kubectl, address));

function topOf(kubectl: (typeof kubectls)[number], address: string): void {
  let server: TestServer;
  let admin: HttpClient;
  let remote: AggregatedServer;
  let runner: KubectlRunner;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
    ({ admin } = server);
    remote = await startMetricsServer(address);
    runner = await KubectlRunner.open(kubectl, await server.keelson.kubeconfigFile());
  });
  afterAll(async () => {
    await runner.close();
    await server.stop();
    await remote.stop();
  });

  async function run(args: string, more: Partial<Step> = {}): Promise<void> {
    const outcome = await runner.run({ name: args, args: args.split(' '), ...more });
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
  }

  it('the APIService becomes available with the endpoint, and kubectl top reads through it', async () => {
    await addNode(admin);
    const stdin = await readFile(join(packageRoot, 'test/fixtures/aggregation/metrics-server.yaml'), 'utf8');
    await run('apply -f -', { stdin, stdout: /apiservice\S+\/v1beta1.metrics.k8s.io created/ });
    expect(await remote.availability(admin, 'False', 'EndpointsNotFound')).toBeDefined();
    await run('get apiservice v1beta1.metrics.k8s.io', { stdout: /kube-system\/metrics-server\s+False/ });
    await run('top nodes', { code: 1, stderr: /Metrics API not available|unable to handle the request/ });

    const slice = {
      metadata: { name: 'metrics-server-1', labels: { 'kubernetes.io/service-name': 'metrics-server' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', protocol: 'TCP', port: remote.port }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    };
    const { code, text } = await admin.post('/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', slice);
    expect([code, text]).toEqual([201, text]);
    await run('wait --for=condition=Available apiservice/v1beta1.metrics.k8s.io --timeout=200s');
    await eventually('the group is discovered', async () => {
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      return (await admin.get('/apis', { accept })).text.includes('NodeMetrics');
    });

    await run('top nodes', { stdout: /node-1\s+250m\s+25%\s+1024Mi\s+25%/ });
    await run('top pods', { stdout: /web\s+5m\s+32Mi/ });
    await run('top pods --containers', { stdout: /web\s+app\s+5m\s+32Mi/ });
    await run('top pods --as=nobody', { code: 1, stderr: /cannot list resource "pods" in API group "metrics.k8s.io"/ });
    // By the role of the manifests, which is aggregated to view.
    await run('create rolebinding viewer --clusterrole=view --user=somebody', { stdout: /created/ });
    await eventually('the role is aggregated', async () => {
      const metrics = `/apis/${apiVersion}/namespaces/default/pods`;
      return (await admin.get(metrics, { 'impersonate-user': 'somebody' })).code === 200;
    });
    await run('top pods --as=somebody', { stdout: /web\s+5m\s+32Mi/ });

    await run('delete -f -', { stdin, stdout: /apiservice\S+ "v1beta1.metrics.k8s.io" deleted/ });
    await run('top nodes', { code: 1, stderr: /Metrics API not available/ });
  });
}

/** The certificate is self-signed, as that which metrics-server makes itself. */
async function startMetricsServer(address: string): Promise<AggregatedServer> {
  const resources = [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)];
  const remote = await AggregatedServer.start({ group: 'metrics.k8s.io', version: 'v1beta1', resources }, { address });
  const list = (kind: string, items: object[]) => ({ kind, apiVersion, metadata: {}, items });
  remote.answers(`${remote.path}/nodes`, list('NodeMetricsList', [nodeMetrics]));
  remote.handlers.set(
    `${remote.path}/namespaces/default/pods`,
    (request: ReceivedRequest, response: ServerResponse) => {
      const items = request.headers['x-remote-user'] === undefined ? [] : [podMetrics];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(list('PodMetricsList', items)));
    },
  );
  return remote;
}

async function addNode(admin: HttpClient): Promise<void> {
  expect((await admin.post('/api/v1/nodes', { metadata: { name: 'node-1' } })).code).toBe(201);
  const capacity = { cpu: '1', memory: '4Gi' };
  const status = { capacity, allocatable: capacity };
  expect((await admin.patch('/api/v1/nodes/node-1/status', { status })).code).toBe(200);
}
