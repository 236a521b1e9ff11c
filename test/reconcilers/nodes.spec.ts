import type { KubeObject } from '../../src/machinery/kube-object.js';
import { ManualClock } from '../../src/std/clock.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { whilePassing } from '../harness/passing-time.js';
import { until, untilGone } from '../harness/until.js';

// Nodes that report, fall silent and return, as kubelets do it: by Leases and by the condition Ready.

const nodes = '/api/v1/nodes';
const pods = '/api/v1/namespaces/default/pods';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const merge = { 'content-type': 'application/merge-patch+json' };
const second = 1_000;

interface World {
  readonly admin: HttpClient;
  /** Lets time pass, in which these nodes renew their Leases every ten seconds. */
  pass(seconds: number, alive?: readonly string[]): Promise<void>;
  restart(): Promise<World>;
  stop(): Promise<void>;
}

async function start(store = new MemoryStore(), clock = new ManualClock()): Promise<World> {
  const keelson = await whilePassing(clock, startKeelson({ store, clock }));
  const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  const leave = async () => {
    admin.close();
    await whilePassing(clock, keelson.stop());
  };
  return {
    admin,
    async pass(seconds, alive = []) {
      for (let left = seconds; left > 0; left -= 5) {
        if (left % 10 === 0) for (const name of alive) await renew(admin, name, clock.now());
        clock.advance(Math.min(left, 5) * second);
        await new Promise<void>((resolve) => setTimeout(resolve, 5));
      }
    },
    async restart() {
      await leave();
      return start(store, clock);
    },
    async stop() {
      await leave();
      await store.close();
    },
  };
}

async function renew(admin: HttpClient, name: string, nowMs: number): Promise<void> {
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: 40,
    renewTime: new Date(nowMs).toISOString().replace('Z', '000Z'),
  };
  const { code } = await admin.request('PATCH', `${leases}/${name}`, { body: { spec }, headers: merge });
  if (code === 404) await admin.post(leases, { metadata: { name }, spec });
}

async function join(admin: HttpClient, name: string, labels: object = {}): Promise<void> {
  expect((await admin.post(nodes, { metadata: { name, labels } })).code).toBe(201);
  await report(admin, name, 'True', '2026-01-01T00:00:00Z');
  await renew(admin, name, 0);
}

async function report(admin: HttpClient, name: string, status: string, time: string): Promise<void> {
  const condition = { type: 'Ready', status, reason: 'Kubelet', lastHeartbeatTime: time, lastTransitionTime: time };
  const body = { status: { conditions: [condition] } };
  expect((await admin.request('PATCH', `${nodes}/${name}/status`, { body, headers: merge })).code).toBe(200);
}

/** Waits until /metrics has all these lines. */
async function metrics(admin: HttpClient, lines: readonly RegExp[]): Promise<void> {
  for (const line of lines)
    await eventually(`there is the metric ${line}`, async () => line.test((await admin.get('/metrics')).text));
}

async function runPod(
  admin: HttpClient,
  name: string,
  nodeName: string,
  tolerations?: readonly object[],
): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'c', image: 'i' }], ...(tolerations && { tolerations }) };
  expect((await admin.post(pods, { metadata: { name }, spec })).code).toBe(201);
  const conditions = [{ type: 'Ready', status: 'True' }];
  const body = { status: { phase: 'Running', conditions } };
  expect((await admin.request('PATCH', `${pods}/${name}/status`, { body, headers: merge })).code).toBe(200);
}

const readyOf = (object: KubeObject | undefined) =>
  (object?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.find(
    ({ type }) => type === 'Ready',
  )?.status;
const taintsOf = (node: KubeObject | undefined) =>
  ((node?.['spec'] as { taints?: { key: string; effect: string }[] } | undefined)?.taints ?? []).map(
    ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
  );
const untilReady = (admin: HttpClient, name: string, status: string) =>
  until(admin, nodes, name, (node) => readyOf(node) === status);
const untilTaints = (admin: HttpClient, name: string, ...want: string[]) =>
  until(admin, nodes, name, (node) => taintsOf(node).sort().join() === want.sort().join());

const unreachable = ['unreachable:NoSchedule', 'unreachable:NoExecute'];

let world: World;
beforeEach(async () => void (world = await start()));
afterEach(() => world.stop());

it('a new Node loses the taint of its creation when it is ready', async () => {
  const { admin } = world;
  const { body } = await admin.post(nodes, { metadata: { name: 'a' } });
  expect(taintsOf(body)).toEqual(['not-ready:NoSchedule']);
  await report(admin, 'a', 'True', '2026-01-01T00:00:00Z');
  await untilTaints(admin, 'a');
});

it('Events tell of Nodes that join and leave', async () => {
  const { admin } = world;
  await admin.post(nodes, { metadata: { name: 'a' } });
  const told = async () =>
    ((await admin.get('/api/v1/namespaces/default/events')).body.items as { reason: string }[]).map((it) => it.reason);
  await eventually('the Node is registered', async () => (await told()).includes('RegisteredNode'));
  await admin.delete(`${nodes}/a`);
  await eventually('the Node is removed', async () => (await told()).includes('RemovingNode'));
});

it('a silent Node is Unknown after the grace period; its Pods become not ready and are deleted after 300 s', async () => {
  const { admin } = world;
  await join(admin, 'alive');
  await join(admin, 'silent');
  await runPod(admin, 'p', 'silent');
  await runPod(admin, 'stays', 'silent', [{ operator: 'Exists' }]);
  await world.pass(35, ['alive']);
  expect(readyOf((await admin.get(`${nodes}/silent`)).body)).toBe('True');
  await world.pass(15, ['alive']);
  const node = await untilReady(admin, 'silent', 'Unknown');
  expect((node!['status'] as { conditions: object[] }).conditions[0]).toMatchObject({
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastHeartbeatTime: '2026-01-01T00:00:00Z',
  });
  await untilTaints(admin, 'silent', ...unreachable);
  for (const name of ['p', 'stays']) await until(admin, pods, name, (pod) => readyOf(pod) === 'False');
  await world.pass(290, ['alive']);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
  await world.pass(20, ['alive']);
  const deleted = await until(admin, pods, 'p', (pod) => pod?.metadata.deletionTimestamp !== undefined);
  expect((deleted!['status'] as { conditions: object[] }).conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
  );
  expect((await admin.get(`${pods}/stays`)).body.metadata.deletionTimestamp).toBeUndefined();
  expect(readyOf((await admin.get(`${nodes}/alive`)).body)).toBe('True');
});

it('a Node is Unknown at the end of its grace period, wherever that is between two checks of all Nodes', async () => {
  const { admin } = world;
  await join(admin, 'silent');
  await world.pass(3);
  await renew(admin, 'silent', 3 * second);
  await world.pass(40);
  expect(readyOf((await admin.get(`${nodes}/silent`)).body)).toBe('True');
  await world.pass(1);
  await untilReady(admin, 'silent', 'Unknown');
});

it('a Node that returns loses its taints, and its Pods stay', async () => {
  const { admin } = world;
  await join(admin, 'alive');
  await join(admin, 'silent');
  await runPod(admin, 'p', 'silent');
  await world.pass(50, ['alive']);
  await untilTaints(admin, 'silent', ...unreachable);
  await world.pass(100, ['alive']);
  await report(admin, 'silent', 'True', '2026-01-01T00:03:00Z');
  await untilTaints(admin, 'silent');
  await world.pass(400, ['alive', 'silent']);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
});

it('a Node that reports that it is not ready has the taint not-ready', async () => {
  const { admin } = world;
  await join(admin, 'alive');
  await join(admin, 'ill');
  await world.pass(10, ['alive', 'ill']);
  await report(admin, 'ill', 'False', '2026-01-01T00:00:10Z');
  await untilTaints(admin, 'ill', 'not-ready:NoSchedule', 'not-ready:NoExecute');
});

it('the Pods of a Node that is not ready for 300 s are deleted, and the Node stays not ready', async () => {
  const { admin } = world;
  await join(admin, 'alive');
  await join(admin, 'ill');
  await runPod(admin, 'p', 'ill');
  await world.pass(10, ['alive', 'ill']);
  await report(admin, 'ill', 'False', '2026-01-01T00:00:10Z');
  await untilTaints(admin, 'ill', 'not-ready:NoSchedule', 'not-ready:NoExecute');
  await world.pass(280, ['alive', 'ill']);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
  await world.pass(30, ['alive', 'ill']);
  await until(admin, pods, 'p', (pod) => pod?.metadata.deletionTimestamp !== undefined);
  expect(readyOf((await admin.get(`${nodes}/ill`)).body)).toBe('False');
});

it('no Pod is evicted while no Node is ready', async () => {
  const { admin } = world;
  for (const name of ['a', 'b']) await join(admin, name);
  await runPod(admin, 'p', 'a');
  await world.pass(60);
  for (const name of ['a', 'b']) await untilTaints(admin, name, 'unreachable:NoSchedule');
  await world.pass(600);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
});

it('Nodes of one zone are evicted one after another', async () => {
  const { admin } = world;
  const silent = ['a', 'b', 'c'];
  const alive = ['k', 'l', 'm', 'n'];
  for (const name of [...silent, ...alive]) await join(admin, name);
  await world.pass(50, alive);
  for (const name of silent) await untilReady(admin, name, 'Unknown');
  const evicted = async () => {
    const found = await Promise.all(silent.map((name) => admin.get(`${nodes}/${name}`)));
    return found.filter(({ body }) => taintsOf(body).includes('unreachable:NoExecute')).length;
  };
  await eventually('one Node is tainted', async () => (await evicted()) === 1);
  await world.pass(10, alive);
  await eventually('two Nodes are tainted', async () => (await evicted()) === 2);
  await world.pass(10, alive);
  await eventually('three Nodes are tainted', async () => (await evicted()) === 3);
  await metrics(admin, [
    /^node_collector_evictions_total\{zone=""\} 3$/m,
    /^node_collector_zone_size\{zone=""\} 7$/m,
    /^node_collector_unhealthy_nodes_in_zone\{zone=""\} 3$/m,
    /^node_collector_zone_health\{zone=""\} 57\.14\d*$/m,
    /^node_collector_update_all_nodes_health_duration_seconds_count [1-9]\d*$/m,
    /^node_collector_update_node_health_duration_seconds_count [1-9]\d*$/m,
  ]);
});

it('a restart neither shortens the grace period nor prolongs the time until an eviction', async () => {
  await join(world.admin, 'alive');
  await join(world.admin, 'silent');
  await runPod(world.admin, 'p', 'silent');
  await world.pass(25, ['alive']);
  world = await world.restart();
  await world.pass(20, ['alive']);
  expect(readyOf((await world.admin.get(`${nodes}/silent`)).body)).toBe('True');
  await world.pass(30, ['alive']);
  await untilTaints(world.admin, 'silent', ...unreachable);
  await world.pass(200, ['alive']);
  world = await world.restart();
  await world.pass(120, ['alive']);
  await until(world.admin, pods, 'p', (pod) => pod?.metadata.deletionTimestamp !== undefined);
});

it('a taint with the effect NoExecute evicts the Pods that do not tolerate it', async () => {
  const { admin } = world;
  await join(admin, 'a');
  await runPod(admin, 'p', 'a');
  await runPod(admin, 'tolerant', 'a', [{ key: 'mine', operator: 'Exists' }]);
  const taints = [{ key: 'mine', effect: 'NoExecute' }];
  await admin.request('PATCH', `${nodes}/a`, { body: { spec: { taints } }, headers: merge });
  await until(admin, pods, 'p', (pod) => pod?.metadata.deletionTimestamp !== undefined);
  expect((await admin.get(`${pods}/tolerant`)).body.metadata.deletionTimestamp).toBeUndefined();
  await metrics(admin, [
    /^taint_eviction_controller_pod_deletions_total 1$/m,
    /^taint_eviction_controller_pod_deletion_duration_seconds_count 1$/m,
  ]);
});

it('Pods of a Node that does not exist are deleted after a minute', async () => {
  const { admin } = world;
  await join(admin, 'a');
  await runPod(admin, 'orphan', 'gone');
  await runPod(admin, 'p', 'a');
  await world.pass(40, ['a']);
  expect((await admin.get(`${pods}/orphan`)).code).toBe(200);
  await world.pass(45, ['a']);
  await untilGone(admin, pods, 'orphan');
  expect((await admin.get(`${pods}/p`)).code).toBe(200);
  await metrics(admin, [
    /^pod_gc_collector_force_delete_pods_total\{namespace="default",reason="orphaned"\} 1$/m,
    /^# TYPE pod_gc_collector_force_delete_pod_errors_total counter$/m,
  ]);
});

it('a cluster without Nodes keeps Pods that name one', async () => {
  const { admin } = world;
  await runPod(admin, 'p', 'imagined');
  await world.pass(200);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
  await join(admin, 'first');
  await world.pass(100, ['first']);
  await untilGone(admin, pods, 'p');
});

it('a Node that comes back in time keeps its Pods', async () => {
  const { admin } = world;
  await runPod(admin, 'p', 'late');
  await world.pass(40);
  await join(admin, 'late');
  await world.pass(120, ['late']);
  expect((await admin.get(`${pods}/p`)).body.metadata.deletionTimestamp).toBeUndefined();
});

it('terminating Pods of a Node out of service are deleted', async () => {
  const { admin } = world;
  await join(admin, 'alive');
  await join(admin, 'off');
  await runPod(admin, 'p', 'off');
  await report(admin, 'off', 'False', '2026-01-01T00:00:10Z');
  await admin.delete(`${pods}/p`);
  await world.pass(25, ['alive', 'off']);
  expect((await admin.get(`${pods}/p`)).code).toBe(200);
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoSchedule' }];
  await admin.request('PATCH', `${nodes}/off`, { body: { spec: { taints } }, headers: merge });
  await world.pass(25, ['alive', 'off']);
  await untilGone(admin, pods, 'p');
  await metrics(admin, [
    /^pod_gc_collector_force_delete_pods_total\{namespace="default",reason="out-of-service"\} 1$/m,
  ]);
});
