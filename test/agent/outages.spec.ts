import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { eventually } from '../harness/eventually.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig } from '../harness/joining-agents.js';
import { freePorts } from '../harness/ports.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const { leases, nodes } = nodePaths;
const fast = [
  '--container-runtime-endpoint=none',
  '--node-status-update-frequency=100ms',
  '--node-lease-duration-seconds=1',
];
const directory = mkdtempSync(join(tmpdir(), 'keelson-outages-'));
let port: number;
let server: TestServer;

/** Starts the server on the same port and store, with a lifetime of the certificates that it signs. */
async function startServer(durationMsMax = 3_600_000): Promise<void> {
  const config = {
    ...nodeServerConfig,
    serving: { securePort: port },
    reconcilers: { signing: { durationMsMax } },
  };
  server = await startTestServer({ store: 'embedded', naming: 'kubernetes' }, { config, directory });
}

beforeAll(async () => {
  port = (await freePorts(1))[0]!;
  await startServer();
  await allowBootstrap(server.admin);
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const renewTimeOf = (lease: KubeObject | undefined) =>
  (lease?.['spec'] as { renewTime?: string } | undefined)?.renewTime ?? '';

async function joined(name: string, ...flags: string[]): Promise<JoiningAgent> {
  const agent = new JoiningAgent(name);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, 'abc123.0123456789abcdef');
  await agent.start([agent.bootstrapFlag, ...fast, ...flags]);
  await until(server.admin, leases, name, (lease) => renewTimeOf(lease) !== '');
  return agent;
}

it('an agent retries quietly while the server is away, and renews its Lease when it is back', async () => {
  const agent = await joined('waiting', '--rotate-certificates=false');
  try {
    const { metadata } = (await until(server.admin, nodes, 'waiting', (node) => node !== undefined))!;
    await server.stop();
    const retried = await agent.logged('the Lease of the Node could not be renewed');
    expect(retried.level).toBe('warn');
    const refused = () => agent.lines.filter(({ fields }) => String(fields['error']).includes('nothing listens there'));
    await eventually('the updates of the Node fail too', () => refused().length >= 2);
    await startServer();
    await agent.logged('the Lease of the Node is renewed again');
    const { fields } = await agent.logged('the Node can be updated again');
    expect(fields['attempts']).toBeGreaterThan(0);
    // One line for each request that failed, however many attempts there were.
    const texts = refused().map(({ message, fields }) => `${message} ${String(fields['error'])}`);
    expect(texts).toEqual([...new Set(texts)]);
    const node = await until(server.admin, nodes, 'waiting', (object) => object !== undefined);
    expect(node!.metadata.uid).toBe(metadata.uid);
  } finally {
    await agent.remove();
  }
});

it('an expiring client certificate is renewed while the Lease continues to be renewed', async () => {
  await server.stop();
  await startServer(12_000);
  const agent = await joined('renewing');
  try {
    const first = new X509Certificate(readFileSync(join(agent.pki, 'kubelet-client-current.pem')));
    const dated = () => readdirSync(agent.pki).filter((name) => /^kubelet-client-\d.*\.pem$/.test(name));
    await eventually('the certificate is renewed', () => dated().length > 1);
    const expiredMs = Date.parse(first.validTo);
    await until(server.admin, leases, 'renewing', (lease) => Date.parse(renewTimeOf(lease)) > expiredMs);
  } finally {
    await agent.remove();
  }
});

it('an agent whose certificate expired while it was stopped joins again with its bootstrap kubeconfig', async () => {
  await server.stop();
  await startServer(5_000);
  const agent = new JoiningAgent('expired');
  try {
    agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, 'abc123.0123456789abcdef');
    await agent.start([agent.bootstrapFlag, '--rotate-certificates=false', ...fast]);
    await agent.stop();
    const first = new X509Certificate(readFileSync(join(agent.pki, 'kubelet-client-current.pem')));
    await eventually('the certificate expires', () => Date.now() > Date.parse(first.validTo));
    await expect(agent.start(fast)).rejects.toThrow(/its client certificate expired at .* set --bootstrap-kubeconfig/);
    await server.stop();
    await startServer();
    await agent.start([agent.bootstrapFlag, ...fast]);
    await until(server.admin, nodes, 'expired', (node) => node !== undefined);
    const second = new X509Certificate(readFileSync(join(agent.pki, 'kubelet-client-current.pem')));
    expect(second.fingerprint256).not.toBe(first.fingerprint256);
  } finally {
    await agent.remove();
  }
});
