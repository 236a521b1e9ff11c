import { readdirSync } from 'node:fs';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { startTestAgent } from '../harness/agents.js';
import { eventually } from '../harness/eventually.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig } from '../harness/joining-agents.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

/** The clock is compared with a certificate once a minute; here twice a second. */
const longMs = 30_000;

/** A clock that is set while the agent runs. */
class SetClock implements Clock {
  aheadMs = 0;
  now = () => Date.now() + this.aheadMs;
  monotonicMs = () => systemClock.monotonicMs();
  after = (delayMs: number, task: () => void) => systemClock.after(delayMs < longMs ? delayMs : 500, task);
}

const { leases } = nodePaths;
const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const fast = [
  '--container-runtime-endpoint=none',
  '--node-status-update-frequency=100ms',
  '--node-lease-duration-seconds=1',
];
let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: nodeServerConfig });
  token = await allowBootstrap(server.admin);
});
afterAll(() => server.stop());

const renewMs = (lease: KubeObject | undefined) =>
  Date.parse((lease?.['spec'] as { renewTime?: string } | undefined)?.renewTime ?? '');

async function joined(name: string, clock: Clock): Promise<JoiningAgent> {
  const agent = new JoiningAgent(name);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, token);
  await agent.start([agent.bootstrapFlag, ...fast], clock);
  await until(server.admin, leases, name, (lease) => !Number.isNaN(renewMs(lease)));
  return agent;
}

it.each([
  ['ahead', hourMs],
  ['back', -hourMs],
])('an agent whose clock jumps %s by an hour renews its Lease with the new time', async (way, aheadMs) => {
  const clock = new SetClock();
  const agent = await joined(`jump-${way}`, clock);
  try {
    clock.aheadMs = aheadMs;
    const near = (ms: number) => Math.abs(ms - clock.now()) < hourMs / 2;
    const first = await until(server.admin, leases, agent.name, (lease) => near(renewMs(lease)));
    await until(server.admin, leases, agent.name, (lease) => renewMs(lease) > renewMs(first));
    clock.aheadMs = 0;
    await until(server.admin, leases, agent.name, (lease) => near(renewMs(lease)));
    expect(agent.lines.filter(({ level }) => level === 'error')).toEqual([]);
  } finally {
    await agent.remove();
  }
});

it('an agent whose clock jumps beyond its certificate says so, renews its Lease, and recovers when it is set', async () => {
  const clock = new SetClock();
  const agent = await joined('jump-far', clock);
  const certificates = () => readdirSync(agent.pki).filter((name) => /^kubelet-client-\d/.test(name));
  try {
    clock.aheadMs = 2 * yearMs;
    await agent.logged('the client certificate has expired; the agent requests another');
    const { fields } = await agent.logged('an issued certificate has already expired; set the clock of this machine');
    expect(fields).toEqual({ purpose: 'client' });
    const far = await until(server.admin, leases, 'jump-far', (lease) => renewMs(lease) > Date.now() + yearMs);
    await until(server.admin, leases, 'jump-far', (lease) => renewMs(lease) > renewMs(far));
    expect(certificates()).toHaveLength(1);
    clock.aheadMs = 0;
    await eventually('a certificate is issued', () => certificates().length === 2);
    await until(server.admin, leases, 'jump-far', (lease) => renewMs(lease) < Date.now() + yearMs);
    expect(agent.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  } finally {
    await agent.remove();
  }
});

it('the CPU in use is measured over a clock that jumps back', async () => {
  const clock = new SetClock();
  const agent = await startTestAgent(['--container-runtime-endpoint=none'], { clock });
  try {
    const client = agent.client();
    const usage = async () =>
      ((await client.get('/stats/summary')).body.node as { cpu: { usageNanoCores?: number } }).cpu.usageNanoCores;
    await usage();
    await eventually('the CPU in use is known', async () => (await usage()) !== undefined);
    clock.aheadMs = -hourMs;
    const known = await usage();
    await eventually('the CPU in use is measured again', async () => (await usage()) !== known);
  } finally {
    await agent.stop();
  }
});
