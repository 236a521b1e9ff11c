import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { AgentProcess } from '../harness/agent-process.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig, readiness } from '../harness/joining-agents.js';
import { freePorts } from '../harness/ports.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

// The built agent as a process that is killed, and whose API server and container runtime go away.

const { nodes, leases, requests } = nodePaths;
const runtime = new CriRuntimeProcess();
const directory = mkdtempSync(join(tmpdir(), 'keelson-agent-process-'));
const fast = ['--node-status-update-frequency=200ms', '--node-lease-duration-seconds=1'];
const agents: AgentProcess[] = [];
let port: number;
let server: TestServer;

const startRuntime = () => {
  const logDirectory = join(runtime.directory, 'pods/app');
  const containers = [{ name: 'app', logDirectory, log: [[1, 'stdout', 'F', 'a line']] as const }];
  return runtime.start({ pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers }] });
};

async function startServer(): Promise<void> {
  const config = { ...nodeServerConfig, serving: { securePort: port } };
  server = await startTestServer({ store: 'embedded', naming: 'kubernetes' }, { config, directory });
}

beforeAll(async () => {
  port = (await freePorts(1))[0]!;
  await startRuntime();
  await startServer();
  await allowBootstrap(server.admin);
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.remove();
});
afterAll(async () => {
  await server.stop();
  await runtime.stop();
  rmSync(directory, { recursive: true, force: true });
});

function agentOf(name: string): AgentProcess {
  const agent = new AgentProcess(new JoiningAgent(name));
  agents.push(agent);
  agent.files.writeBootstrap({ url: server.url, ca: server.keelson.ca }, 'abc123.0123456789abcdef');
  return agent;
}

const flagsOf = ({ files }: AgentProcess, ...more: string[]) => [
  files.bootstrapFlag,
  `--container-runtime-endpoint=${runtime.endpoint}`,
  ...fast,
  ...more,
];
const ready = (name: string, status = 'True') => until(server.admin, nodes, name, (node) => readiness(node) === status);
const renewTime = (lease: KubeObject | undefined) =>
  (lease?.['spec'] as { renewTime?: string } | undefined)?.renewTime ?? '';

/** The requests for certificates of a Node. */
async function requestsOf(name: string): Promise<readonly KubeObject[]> {
  const { body } = await server.admin.get(requests);
  return (body.items as KubeObject[]).filter(({ spec }) => {
    const request = Buffer.from((spec as { request: string }).request, 'base64').toString();
    return Buffer.from(request.replace(/-----[^-]+-----/g, ''), 'base64').includes(`system:node:${name}`);
  });
}

function clientOf(agent: AgentProcess): HttpClient {
  const ca = readFileSync(join(agent.files.pki, 'kubelet.crt'), 'utf8');
  return new HttpClient({ url: agent.url, ca });
}

it('an agent that is killed takes up its Node, its Lease and its certificate again', async () => {
  const agent = agentOf('killed');
  await agent.start(flagsOf(agent));
  const node = await ready('killed');
  const lease = await until(server.admin, leases, 'killed', (object) => renewTime(object) !== '');
  const files = readdirSync(agent.files.pki);
  for (let kills = 1; kills <= 3; kills++) {
    await agent.kill();
    const before = renewTime((await server.admin.get(`${leases}/killed`)).body as KubeObject);
    await agent.start(flagsOf(agent));
    const renewed = await until(server.admin, leases, 'killed', (object) => renewTime(object) > before);
    expect(renewed!.metadata.uid).toBe(lease!.metadata.uid);
  }
  expect((await ready('killed'))!.metadata.uid).toBe(node!.metadata.uid);
  expect(readdirSync(agent.files.pki)).toEqual(files);
  expect(await requestsOf('killed')).toHaveLength(1);
});

it('an agent that is killed at any time of its bootstrap requests one certificate and registers one Node', async () => {
  const agent = agentOf('interrupted');
  // Its start takes about half a second on a quiet machine.
  for (const afterMs of [200, 350, 450, 550, 650, 800, 1_000]) await agent.startAndKill(flagsOf(agent), afterMs);
  await agent.start(flagsOf(agent));
  await ready('interrupted');
  expect(await requestsOf('interrupted')).toHaveLength(1);
  const { body } = await server.admin.get(nodes);
  const names = (body.items as KubeObject[]).map(({ metadata }) => metadata.name);
  expect(names.filter((name) => name === 'interrupted')).toHaveLength(1);
  expect(readdirSync(agent.files.pki).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('SIGTERM ends an agent with code 0 while a log is followed and a checkpoint hangs', async () => {
  const agent = agentOf('terminated');
  await agent.start(flagsOf(agent, '--feature-gates=ContainerCheckpoint=true'));
  const client = clientOf(agent);
  const log = await client.open('GET', '/containerLogs/default/web-1/app?follow=true');
  await runtime.set({ behaviour: { CheckpointContainer: 'hang' } });
  const checkpoint = client.post('/checkpoint/default/web-1/app', '').catch(() => undefined);
  const calls = async () => (await runtime.report()).calls['CheckpointContainer'] ?? 0;
  await eventually('the runtime was asked', async () => (await calls()) > 0);
  expect(await agent.stop()).toBe(0);
  await runtime.set({ behaviour: {} });
  await checkpoint;
  expect(await log.ended).toBe('cut');
  client.close();
});

it('an agent whose API server is away starts, serves its Pods, and renews its Lease when the server is back', async () => {
  const agent = agentOf('alone');
  await agent.start(flagsOf(agent));
  const node = await ready('alone');
  await agent.kill();
  await server.stop();
  await agent.start(flagsOf(agent));
  const client = clientOf(agent);
  const { code, body } = await client.get('/pods');
  expect([code, (body.items as KubeObject[]).map(({ metadata }) => metadata.name)]).toEqual([200, ['web-1']]);
  client.close();
  await startServer();
  const before = renewTime((await server.admin.get(`${leases}/alone`)).body as KubeObject);
  await until(server.admin, leases, 'alone', (object) => renewTime(object) > before);
  expect((await ready('alone'))!.metadata.uid).toBe(node!.metadata.uid);
});

it('attempts to renew the Lease become rarer while the API server is away, up to 7 s', async () => {
  const agent = agentOf('patient');
  // The Node is updated rarely: attempts are those for the Lease, after that of the first failed update.
  await agent.start([
    agent.files.bootstrapFlag,
    '--container-runtime-endpoint=none',
    '--rotate-certificates=false',
    '--node-lease-duration-seconds=1',
    '--node-status-update-frequency=1h',
  ]);
  await until(server.admin, leases, 'patient', (object) => renewTime(object) !== '');
  await until(server.admin, nodes, 'patient', (object) => object !== undefined);
  await server.stop();
  const attemptsMs: number[] = [];
  const closed = createServer((socket) => {
    attemptsMs.push(performance.now());
    socket.destroy();
  });
  closed.listen(port, '127.0.0.1');
  await once(closed, 'listening');
  const longestMs = () => Math.max(0, ...attemptsMs.slice(1).map((ms, index) => ms - attemptsMs[index]!));
  try {
    await eventually('the agent waits for more than a second', () => longestMs() > 1_300);
    // Attempts after 200, 400, 800 and 1,600 ms, and one more of each request whose connection was closed.
    expect(attemptsMs.length).toBeLessThan(20);
  } finally {
    closed.close();
    await once(closed, 'close');
    await startServer();
  }
  const before = renewTime((await server.admin.get(`${leases}/patient`)).body as KubeObject);
  await until(server.admin, leases, 'patient', (object) => renewTime(object) > before);
});

it('a Node is not ready while the socket of its runtime is gone, and ready when it is back', async () => {
  const agent = agentOf('runtimeless');
  await agent.start(flagsOf(agent));
  await ready('runtimeless');
  const client = clientOf(agent);
  await runtime.kill();
  const unready = (await ready('runtimeless', 'False'))!;
  const { conditions } = unready['status'] as { conditions: { type: string; message: string }[] };
  expect(conditions.find(({ type }) => type === 'Ready')!.message).toMatch(/^container runtime is down: /);
  expect((await client.get('/pods')).code).toBe(500);
  expect((await client.get('/healthz')).code).toBe(200);
  await startRuntime();
  await ready('runtimeless');
  expect((await client.get('/pods')).code).toBe(200);
  client.close();
});
