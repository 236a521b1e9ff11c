import type { ServerResponse } from 'node:http';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import { packageRoot } from '../../src/config/config-files.js';
import { AggregatedServer, type ReceivedRequest } from '../harness/aggregated-server.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

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
if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('top is not tested', () => undefined));
} else describe('metrics of an aggregated server', topOf);

function topOf(): void {
  let server: TestServer;
  let remote: AggregatedServer;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
    const { admin } = server;
    remote = await AggregatedServer.start({
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      resources: [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)],
    });
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
    const node = { metadata: { name: 'node-1' } };
    expect((await admin.post('/api/v1/nodes', node)).code).toBe(201);
    const capacity = { cpu: '1', memory: '4Gi' };
    const { body } = await admin.get('/api/v1/nodes/node-1');
    const status = { ...body.status, capacity, allocatable: capacity };
    expect((await admin.put('/api/v1/nodes/node-1/status', { ...body, status })).code).toBe(200);
    // As the manifests of metrics-server: the certificate is self-signed, and its names are not those of the Service.
    await remote.install(admin, { caBundle: undefined, insecureSkipTLSVerify: true, groupPriorityMinimum: 100 });
    await eventually('the group is discovered', async () => {
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const { text } = await admin.get('/apis', { accept });
      return text.includes('NodeMetrics');
    });
  });
  afterAll(async () => {
    await server.stop();
    await remote.stop();
  });

  it.each(kubectls)('kubectl top nodes and pods of $version read them', async (kubectl) => {
    const runner = await KubectlRunner.open(kubectl, await server.keelson.kubeconfigFile());
    try {
      for (const [args, stdout] of [
        [['top', 'nodes'], /node-1\s+250m\s+25%\s+1024Mi\s+25%/],
        [['top', 'pods'], /web\s+5m\s+32Mi/],
        [['top', 'pods', '--containers'], /web\s+app\s+5m\s+32Mi/],
      ] as const) {
        const outcome = await runner.run({ name: args.join(' '), args, stdout });
        expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
      }
    } finally {
      await runner.close();
    }
  });
}
