import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import { makeEtcdCertificates } from '../harness/etcd-certificates.js';
import { eventually } from '../harness/eventually.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig, readiness } from '../harness/joining-agents.js';
import { itWithAddress, ownAddress } from '../harness/kubelet.js';
import { describeKubectls, hasKubectl, outputOf } from '../harness/kubectl-streams.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

// kubectl to the API server to an agent, which trusts the server by its client certificate, to a container runtime.

const startMs = Date.parse('2026-01-02T03:04:05Z');
const runtime = new CriRuntimeProcess();
const directory = mkdtempSync(join(tmpdir(), 'kubectl-agent-'));
const logDirectory = join(runtime.directory, 'pods/main');
const machineLogs = join(directory, 'machine-logs');
const pods = '/api/v1/namespaces/default/pods';
const address = ownAddress() ?? '127.0.0.1';
const agent = new JoiningAgent('node', address);
let server: TestServer;
let kubeconfig: string;

beforeAll(async () => {
  if (!hasKubectl) return;
  mkdirSync(machineLogs);
  writeFileSync(join(machineLogs, 'agent.log'), 'a line of the machine\n');
  await runtime.start({ streams: 'run' });
  const files = await makeEtcdCertificates(directory, [address]);
  const kubelets = {
    certificateAuthority: files.caFile,
    clientCertificate: files.clientCertFile,
    clientKey: files.clientKeyFile,
    preferredAddressTypes: ['InternalIP'],
  };
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { ...nodeServerConfig, kubelets } },
  );
  const { admin } = server;
  kubeconfig = await server.keelson.kubeconfigFile();
  const apiGroup = 'rbac.authorization.k8s.io';
  const binding = await admin.post(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: 'server-to-kubelets' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup, kind: 'User', name: 'client' }],
  });
  expect(binding.code).toBe(201);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, await allowBootstrap(admin));
  await agent.start([
    agent.bootstrapFlag,
    `--container-runtime-endpoint=${runtime.endpoint}`,
    `--tls-cert-file=${files.serverCertFile}`,
    `--tls-private-key-file=${files.serverKeyFile}`,
    `--client-ca-file=${files.caFile}`,
    `--log-dir=${machineLogs}`,
    '--anonymous-auth=false',
    '--authorization-mode=Webhook',
  ]);
  await until(admin, nodePaths.nodes, 'node', (node) => readiness(node) === 'True');
  const spec = { containers: [{ name: 'main', image: 'i' }], nodeName: 'node' };
  const created = await admin.post(pods, { metadata: { name: 'pod' }, spec });
  expect(created.code).toBe(201);
  expect((await admin.patch(`${pods}/pod/status`, { status: { phase: 'Running' } })).code).toBe(200);
  const log = [
    [startMs, 'stdout', 'F', 'one'],
    [startMs, 'stderr', 'F', 'two'],
  ] as const;
  const { uid } = created.body.metadata as { uid: string };
  const containers = [{ name: 'main', logDirectory, log }];
  await runtime.set({ pods: [{ namespace: 'default', name: 'pod', uid, containers }] });
});
afterAll(async () => {
  await agent.remove();
  if (hasKubectl) await server.stop();
  await runtime.stop();
  rmSync(directory, { recursive: true, force: true });
});

const itWithProxy = hasKubectl ? itWithAddress() : it.skip;

describeKubectls(
  () => kubeconfig,
  ({ start, run }) => {
    it('logs prints the lines of a container', async () => {
      const { code, stdout, stderr } = await run(['logs', 'pod', '--limit-bytes=8']);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'one\ntwo\n', stderr: '' });
    });

    it('logs -f prints lines that are appended later', async () => {
      const child = start(['logs', '-f', 'pod']);
      const output = outputOf(child);
      await eventually('the log is followed', () => output().startsWith('one\ntwo\n'));
      const line = `appended for ${child.pid}`;
      await runtime.append(join(logDirectory, '0.log'), [[startMs + 1_000, 'stdout', 'F', line]]);
      await eventually('the line is printed', () => output().endsWith(`${line}\n`));
      child.kill();
      await once(child, 'exit');
    });

    itWithProxy.each([
      ['stats/summary', /"nodeName":"node"/],
      ['metrics', /^kubelet_node_name\{node="node"\} 1$/m],
      ['logs/', /<a href="\.\/agent\.log">agent\.log<\/a>/],
      ['logs/agent.log', /^a line of the machine\n$/],
      ['containerLogs/default/pod/main?tailLines=1', /\n$/],
      ['configz', /"kubeletconfig":\{/],
    ])('get --raw reads %s through the proxy of its Node', async (path, wanted) => {
      const { stdout, code, stderr } = await run(['get', '--raw', `/api/v1/nodes/node/proxy/${path}`]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(wanted);
    });

    itWithProxy('proxy serves paths of the agent', async () => {
      const child = start(['proxy', '--port=0', '--reject-paths=^$']);
      const output = outputOf(child);
      await eventually('the port is open', () => /Starting to serve on 127\.0\.0\.1:\d+/.test(output()));
      const local = /127\.0\.0\.1:(\d+)/.exec(output())![1];
      const answer = await fetch(`http://127.0.0.1:${local}/api/v1/nodes/node/proxy/logs/agent.log`);
      expect([answer.status, await answer.text()]).toEqual([200, 'a line of the machine\n']);
      child.kill();
      await once(child, 'exit');
    });

    itWithProxy('get --raw reads the Pods of the agent through the proxy of its Node', async () => {
      const { stdout, code, stderr } = await run(['get', '--raw', '/api/v1/nodes/node/proxy/pods']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'pod' } }] });
    });
  },
);

(hasKubectl ? it : it.skip)('the agent refuses those who do not have the certificate of the server', async () => {
  const ca = readFileSync(join(directory, 'ca.crt'), 'utf8');
  const client = server.client({ url: agent.url!, ca });
  expect((await client.get('/pods')).code).toBe(401);
});
