import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { makeEtcdCertificates } from '../harness/etcd-certificates.js';
import { describeKubectls, hasKubectl } from '../harness/kubectl-streams.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { StreamingKubelet } from '../harness/streaming-kubelet.js';

// kubectl to the API server to a kubelet that speaks SPDY only, and runs commands on this machine.

let directory: string;
let kubelet: StreamingKubelet;
let server: TestServer;
let kubeconfig: string;

beforeAll(async () => {
  if (!hasKubectl) return;
  directory = mkdtempSync(join(tmpdir(), 'kubectl-streams-'));
  const certificates = await makeEtcdCertificates(directory, ['127.0.0.1']);
  const [cert, key] = [certificates.serverCertFile, certificates.serverKeyFile].map((file) =>
    String(readFileSync(file)),
  );
  kubelet = await StreamingKubelet.start({ cert: cert!, key: key! });
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  kubeconfig = await server.keelson.kubeconfigFile();
  const nodeStatus = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  };
  await server.admin.post('/api/v1/nodes', { metadata: { name: 'node' } });
  expect((await server.admin.patch('/api/v1/nodes/node/status', { status: nodeStatus })).code).toBe(200);
  const pods = '/api/v1/namespaces/default/pods';
  for (const name of ['pod', 'refused']) {
    const spec = { containers: [{ name: 'main', image: 'i' }], nodeName: 'node' };
    expect((await server.admin.post(pods, { metadata: { name }, spec })).code).toBe(201);
    expect((await server.admin.patch(`${pods}/${name}/status`, { status: { phase: 'Running' } })).code).toBe(200);
  }
});
afterAll(async () => {
  if (!hasKubectl) return;
  await server.stop();
  kubelet.stop();
  rmSync(directory, { recursive: true, force: true });
});

describeKubectls(
  () => kubeconfig,
  ({ start, run }) => {
    it.each([
      ['exec', 'refused', '--', 'true'],
      ['port-forward', 'refused', ':80'],
    ])('%s says what the kubelet refuses', async (...words) => {
      const { stderr, code } = await run(words);
      expect(stderr).toContain('pod does not exist');
      expect(code).toBe(1);
    });

    it('nothing is left when kubectl has gone', async () => {
      const child = start(['exec', '-i', 'pod', '--', 'sleep', '600']);
      await eventually('the command runs', async () => (await kubelet.state()).processes === 1);
      child.kill('SIGKILL');
      await eventually('connections and processes end', async () => {
        const state = await kubelet.state();
        return state.processes === 0 && state.sockets === 0;
      });
    });
  },
);
