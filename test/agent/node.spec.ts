import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import { eventually } from '../harness/eventually.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig, readiness } from '../harness/joining-agents.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const { nodes, leases, requests } = nodePaths;
const runtime = new CriRuntimeProcess();
let server: TestServer;
let token: string;

beforeAll(async () => {
  await runtime.start({
    images: [
      { id: 'sha256:1', repoTags: ['small:1'], repoDigests: [], size: 5 },
      { id: 'sha256:2', repoTags: ['large:1'], repoDigests: ['large@sha256:2'], size: 6_000_000_000 },
    ],
  });
  // A node is silent after two seconds instead of 40.
  const reconcilers = { nodes: { monitorPeriodMs: 200, monitorGraceMs: 2_000 } };
  const config = { ...nodeServerConfig, reconcilers };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  token = await allowBootstrap(server.admin);
});
afterAll(async () => {
  await server.stop();
  await runtime.stop();
});

const agents: JoiningAgent[] = [];
afterEach(async () => {
  await runtime.set({ networkReady: true, behaviour: {} });
  for (const agent of agents.splice(0)) await agent.remove();
});

/** Frequencies that do not let a test wait. */
const fast = ['--node-status-update-frequency=100ms', '--node-lease-duration-seconds=1'];

async function join1(name: string, ...flags: string[]): Promise<JoiningAgent> {
  const agent = new JoiningAgent(name);
  agents.push(agent);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, token);
  await agent.start([agent.bootstrapFlag, `--container-runtime-endpoint=${runtime.endpoint}`, ...fast, ...flags]);
  return agent;
}

const ready = (name: string, status = 'True') => until(server.admin, nodes, name, (node) => readiness(node) === status);
const conditionOf = (node: KubeObject | undefined, type: string) =>
  (node?.['status'] as { conditions: { type: string }[] }).conditions.find((condition) => condition.type === type);

it('an agent with a bootstrap token registers a ready Node with the rights of system:nodes alone', async () => {
  const agent = await join1(
    'joined',
    '--node-labels=team=a,node.kubernetes.io/pool=b',
    '--register-with-taints=dedicated=x:NoSchedule',
    '--max-pods=20',
    '--system-reserved=cpu=100m',
  );
  const node = await ready('joined');
  expect(node).toMatchObject({
    metadata: {
      labels: {
        team: 'a',
        'node.kubernetes.io/pool': 'b',
        'kubernetes.io/hostname': 'joined',
        'kubernetes.io/os': 'linux',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': expect.stringMatching(/^(amd64|arm64)$/) as string,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    status: {
      addresses: [
        { type: 'InternalIP', address: '127.0.0.1' },
        { type: 'Hostname', address: 'joined' },
      ],
      capacity: { pods: '20' },
      daemonEndpoints: { kubeletEndpoint: { Port: Number(new URL(agent.url!).port) } },
      nodeInfo: {
        containerRuntimeVersion: expect.stringMatching(/^stand-in:\/\//) as string,
        operatingSystem: 'linux',
      },
      images: [
        { names: ['large@sha256:2', 'large:1'], sizeBytes: 6_000_000_000 },
        { names: ['small:1'], sizeBytes: 5 },
      ],
    },
  });
  expect(conditionOf(node, 'Ready')).toMatchObject({
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
  });
  const tainted = await until(server.admin, nodes, 'joined', (object) => {
    const taints = (object?.['spec'] as { taints?: { key: string }[] } | undefined)?.taints ?? [];
    return taints.length === 1;
  });
  expect(tainted?.['spec']).toMatchObject({ taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }] });
});

it('the Lease of a Node is owned by it, renewed, made again when it is deleted, and renewed after a change', async () => {
  await join1('leased');
  const { metadata } = (await ready('leased'))!;
  const renewTime = (lease: KubeObject | undefined) =>
    (lease?.['spec'] as { renewTime?: string } | undefined)?.renewTime;
  const first = await until(server.admin, leases, 'leased', (lease) => renewTime(lease) !== undefined);
  expect(first).toMatchObject({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'leased', uid: metadata.uid }] },
    spec: { holderIdentity: 'leased', leaseDurationSeconds: 1 },
  });
  await until(server.admin, leases, 'leased', (lease) => renewTime(lease)! > renewTime(first)!);
  await server.admin.request('DELETE', `${leases}/leased`);
  const again = await until(
    server.admin,
    leases,
    'leased',
    (lease) => lease !== undefined && lease.metadata.uid !== first!.metadata.uid,
  );
  const labels = { labels: { touched: 'yes' } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  await server.admin.request('PATCH', `${leases}/leased`, { body: { metadata: labels }, headers });
  const renewed = await until(
    server.admin,
    leases,
    'leased',
    (lease) => lease?.metadata.labels?.['touched'] === 'yes' && renewTime(lease)! > renewTime(again)!,
  );
  expect(renewed!.metadata.uid).toBe(again!.metadata.uid);
});

it('a Node is not ready while its runtime or the network of its runtime is not', async () => {
  await join1('sick');
  await ready('sick');
  await runtime.set({ networkReady: false });
  expect(conditionOf(await ready('sick', 'False'), 'Ready')).toMatchObject({
    reason: 'KubeletNotReady',
    message: expect.stringMatching(/^container runtime network not ready: NetworkReady=false reason:/) as string,
  });
  await runtime.set({ networkReady: true });
  await ready('sick');
  await runtime.set({ behaviour: { Status: 'error' } });
  expect(conditionOf(await ready('sick', 'False'), 'Ready')).toMatchObject({
    message: 'container runtime is down: rpc error: code = Unknown desc = the runtime failed',
  });
  await runtime.set({ behaviour: {} });
  await ready('sick');
});

it('a stopped agent leaves a Node that becomes Unknown, and ready without taints when it returns', async () => {
  const agent = await join1('silent');
  await ready('silent');
  await agent.stop();
  const unknown = await ready('silent', 'Unknown');
  expect(conditionOf(unknown, 'Ready')).toMatchObject({ message: 'Kubelet stopped posting node status.' });
  await agent.start([`--container-runtime-endpoint=${runtime.endpoint}`, ...fast]);
  const back = await until(server.admin, nodes, 'silent', (node) => {
    const { taints = [] } = (node?.['spec'] ?? {}) as { taints?: unknown[] };
    return readiness(node) === 'True' && taints.length === 0;
  });
  expect(back!.metadata.uid).toBe(unknown!.metadata.uid);
  expect(agent.lines.map(({ message }) => message)).toContain('the Node was registered before');
});

it('an agent restores the labels of its machine and keeps those of an administrator', async () => {
  const agent = await join1('labelled', '--node-labels=team=a');
  await ready('labelled');
  await agent.stop();
  const labels = { team: 'changed', 'kubernetes.io/arch': 'other', 'node-role.kubernetes.io/worker': '' };
  const headers = { 'content-type': 'application/merge-patch+json' };
  await server.admin.request('PATCH', `${nodes}/labelled`, { body: { metadata: { labels } }, headers });
  await agent.start([`--container-runtime-endpoint=${runtime.endpoint}`, ...fast, '--node-labels=team=a']);
  const node = await until(
    server.admin,
    nodes,
    'labelled',
    (object) => object?.metadata.labels?.['kubernetes.io/arch'] !== 'other',
  );
  expect(node!.metadata.labels).toMatchObject({ team: 'changed', 'node-role.kubernetes.io/worker': '' });
});

it('an agent whose Node was deleted says so and does not make its Lease again', async () => {
  const agent = await join1('deleted');
  await ready('deleted');
  await until(server.admin, leases, 'deleted', (lease) => lease !== undefined);
  await server.admin.request('DELETE', `${nodes}/deleted`);
  const { fields } = await agent.logged('the Node could not be registered or updated');
  expect(fields['advice']).toBe('the Node was deleted; restart the agent to register it again');
  await untilGone(server.admin, leases, 'deleted');
});

it('two agents with the same node name are told about each other', async () => {
  const agent = await join1('twin');
  await ready('twin');
  const other = await join1('twin');
  const found = () =>
    [...agent.lines, ...other.lines].some(({ message }) => message.includes('two agents have the same'));
  await eventually('one of the agents logs the other', found);
});

it('the files of a bootstrap are private, and a second start requests nothing', async () => {
  const agent = await join1('filed');
  await ready('filed');
  expect(statSync(agent.kubeconfig).mode & 0o777).toBe(0o600);
  const link = join(agent.pki, 'kubelet-client-current.pem');
  expect([lstatSync(link).isSymbolicLink(), statSync(link).mode & 0o777]).toEqual([true, 0o600]);
  await agent.stop();
  const before = readdirSync(agent.pki);
  const { body } = await server.admin.get(requests);
  await agent.start([agent.bootstrapFlag, ...fast]);
  expect(readdirSync(agent.pki)).toEqual(before);
  expect((await server.admin.get(requests)).body.items).toHaveLength((body.items as unknown[]).length);
});

it.each([
  ['with errors', (agent: JoiningAgent) => writeFileSync(agent.kubeconfig, 'not: [mine')],
  ['empty', (agent: JoiningAgent) => writeFileSync(agent.kubeconfig, '')],
])('a file (%s) that the agent has not written is not overwritten', async (_what, write) => {
  const agent = new JoiningAgent('foreign');
  agents.push(agent);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, token);
  write(agent);
  const before = readFileSync(agent.kubeconfig, 'utf8');
  await expect(agent.start([agent.bootstrapFlag])).rejects.toThrow(/cannot be used: .* move it away/s);
  expect(readFileSync(agent.kubeconfig, 'utf8')).toBe(before);
});
