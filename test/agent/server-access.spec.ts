import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import { makeEtcdCertificates } from '../harness/etcd-certificates.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig, readiness } from '../harness/joining-agents.js';
import { itWithAddress, ownAddress } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

// An API server that connects to an agent with its client certificate, whose rights the agent asks the API server for.

const apiGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${apiGroup}/v1`;
const address = ownAddress() ?? '127.0.0.1';
const directory = mkdtempSync(join(tmpdir(), 'keelson-server-access-'));
const runtime = new CriRuntimeProcess();
const agent = new JoiningAgent('node', address);
const subjects = [{ apiGroup, kind: 'User', name: 'client' }];
/** The subresources of nodes that the API server needs. */
const resources = ['proxy', 'stats', 'log', 'spec', 'metrics'].map((name) => `nodes/${name}`);
const paths = ['pods', 'stats/summary', 'logs/', 'spec/', 'metrics'].map((path) => `/api/v1/nodes/node/proxy/${path}`);
const log = '/api/v1/namespaces/default/pods/web-1/log?container=app';
let server: TestServer;

beforeAll(async () => {
  const files = await makeEtcdCertificates(directory, [address]);
  mkdirSync(join(directory, 'logs'));
  const kubelets = {
    certificateAuthority: files.caFile,
    clientCertificate: files.clientCertFile,
    clientKey: files.clientKeyFile,
    preferredAddressTypes: ['InternalIP'],
  };
  const config = { ...nodeServerConfig, kubelets };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  await runtime.start();
  const { admin } = server;
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, await allowBootstrap(admin));
  await agent.start([
    ...[agent.bootstrapFlag, '--anonymous-auth=false', '--authorization-mode=Webhook'],
    ...[`--container-runtime-endpoint=${runtime.endpoint}`, `--log-dir=${join(directory, 'logs')}`],
    ...[`--tls-cert-file=${files.serverCertFile}`, `--tls-private-key-file=${files.serverKeyFile}`],
    ...[`--client-ca-file=${files.caFile}`, '--authorization-webhook-cache-unauthorized-ttl=1ms'],
  ]);
  await until(admin, nodePaths.nodes, 'node', (node) => readiness(node) === 'True');
  const spec = { containers: [{ name: 'app', image: 'i' }], nodeName: 'node' };
  const pod = await admin.post('/api/v1/namespaces/default/pods', { metadata: { name: 'web-1' }, spec });
  const { uid } = pod.body.metadata as { uid: string };
  const containers = [
    { name: 'app', logDirectory: join(runtime.directory, 'app'), log: [[1, 'stdout', 'F', 'a line']] as const },
  ];
  await runtime.set({ pods: [{ namespace: 'default', name: 'web-1', uid, containers }] });
});
afterAll(async () => {
  await agent.remove();
  await server.stop();
  await runtime.stop();
  rmSync(directory, { recursive: true, force: true });
});

const codes = async () => {
  const found: number[] = [];
  for (const path of [...paths, log]) found.push((await server.admin.get(path)).code);
  return found;
};

it('an agent refuses clients without the certificate of the API server (401)', async () => {
  const client = server.client({ url: agent.url!, ca: readFileSync(join(directory, 'ca.crt'), 'utf8') });
  expect((await client.get('/pods')).code).toBe(401);
});

itWithAddress()('the user of --kubelet-client-certificate needs rights on subresources of nodes (403)', async () => {
  expect((await codes()).slice(0, -1)).toEqual(paths.map(() => 403));
  expect((await codes()).at(-1)).not.toBe(200);
});

itWithAddress()(
  'a role of a namespace does not allow requests to an agent, which have no namespace (403)',
  async () => {
    const at = `${rbac}/namespaces/default`;
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    const roleRef = { apiGroup, kind: 'Role', name: 'all' };
    expect((await server.admin.post(`${at}/roles`, { metadata: { name: 'all' }, rules })).code).toBe(201);
    const binding = { metadata: { name: 'all' }, roleRef, subjects };
    expect((await server.admin.post(`${at}/rolebindings`, binding)).code).toBe(201);
    expect((await codes()).slice(0, -1)).toEqual(paths.map(() => 403));
  },
);

itWithAddress()('all verbs on nodes/proxy, stats, log, spec and metrics are enough for an API server', async () => {
  const metadata = { name: 'kubelet-api' };
  const rules = [{ apiGroups: [''], resources, verbs: ['*'] }];
  await server.admin.post(`${rbac}/clusterroles`, { metadata, rules });
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'kubelet-api' };
  await server.admin.post(`${rbac}/clusterrolebindings`, { metadata, roleRef, subjects });
  expect(await codes()).toEqual([...paths, log].map(() => 200));
});
