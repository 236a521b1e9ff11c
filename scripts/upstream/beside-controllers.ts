import { setTimeout as sleep } from 'node:timers/promises';
import { checkLostNode, pathsOf, runRound, selected, service, template } from './workloads.js';
import type { ApiClient } from './api-client.js';
import { eventually, type Checks } from './checks.js';
import type { Cluster } from './cluster.js';
import { keelsonWarnings, klogErrors } from './program-logs.js';
import { SimulatedKubelets } from './simulated-kubelet.js';
import { describeWrites, StoreWrites } from './store-writes.js';

interface ControllerRun {
  readonly cluster: Cluster;
  readonly checks: Checks;
  readonly say: (line: string) => void;
  /** The server that the controllers use: runs on kube-apiserver show which log lines are not Keelson's fault. */
  readonly server: 'keelson' | 'kube-apiserver';
  /** Time for which rounds of workloads are repeated; the first one is always finished. */
  readonly minutes: number;
  readonly quietMinutes: number;
}

/** Limit on writes to anything but Leases in the five quiet minutes. */
const quietWritesMax = 30;
const settleMs = 60_000;

/**
 * Runs the real kube-controller-manager and kube-scheduler on a server: rounds of workloads, then a time without any.
 */
export async function runBesideControllers(run: ControllerRun): Promise<void> {
  const { cluster, checks, say, server, minutes, quietMinutes } = run;
  const begin = performance.now();
  const client = server === 'keelson' ? await cluster.startKeelson() : await cluster.startApiServer();
  const store = await cluster.openStore();
  const writes = await StoreWrites.open(store);
  await cluster.startControllerManager(server);
  await cluster.startScheduler(server);
  const kubelets = new SimulatedKubelets(client, ['node-a', 'node-b', 'node-c']);
  try {
    await kubelets.start();
    await makeSteadyObjects(client);
    const bootstrapper = await prepareBootstrapper(cluster, client, server);
    for (let round = 0; round === 0 || performance.now() - begin < minutes * 60_000; round++) {
      const from = performance.now();
      await runRound({ client, checks, namespace: `round-${round}`, nodes: 3, bootstrapper });
      if (round === 0) await checkLostNode(client, checks, 'node-c', kubelets);
      await removeVolumes(client);
      say(`round ${round}: ${writes.since(from).length} writes in ${Math.round((performance.now() - from) / 1000)} s`);
    }
    await sleep(settleMs);
    await checkQuiet(writes, checks, say, quietMinutes);
    checks.add('simulated kubelets were never refused', kubelets.errors.length === 0, kubelets.errors[0] ?? '');
    checks.add('no program ended by itself', cluster.exits.length === 0, cluster.exits.join(', '));
  } finally {
    kubelets.stop();
    writes.stop();
    await store.close();
    reportLogs(run);
    say(`ran for ${((performance.now() - begin) / 60_000).toFixed(0)} minutes`);
  }
}

async function checkQuiet(
  writes: StoreWrites,
  checks: Checks,
  say: (line: string) => void,
  minutes: number,
): Promise<void> {
  const from = performance.now();
  await sleep(minutes * 60_000);
  const made = writes.since(from);
  checks.add(
    `at most ${quietWritesMax} writes besides Leases in ${minutes} quiet minutes`,
    made.length <= quietWritesMax,
    `${made.length} writes`,
  );
  for (const line of describeWrites(made)) say(`    ${line}`);
}

function reportLogs({ cluster, say, server }: ControllerRun): void {
  for (const name of ['kube-controller-manager', 'kube-scheduler'] as const) {
    say(`errors in the log of ${name}:`);
    for (const { count, example } of klogErrors(cluster.logOf(name))) say(`    ${count} × ${example}`);
  }
  const lines =
    server === 'keelson' ? keelsonWarnings(cluster.logOf('keelson')) : klogErrors(cluster.logOf('kube-apiserver'));
  say(`warnings and errors in the log of ${server}:`);
  for (const { count, example } of lines) say(`    ${count} × ${example}`);
}

/**
 * Creates objects that stay for the whole run, so that their controllers have something to watch in the quiet minutes.
 */
async function makeSteadyObjects(client: ApiClient): Promise<void> {
  const { core, apps, batch, policy } = pathsOf('steady');
  await client.must(client.post('/api/v1/namespaces', { metadata: { name: 'steady' } }));
  await eventually('account', async () =>
    (await client.get(`${core}/serviceaccounts/default`)).code === 200 ? true : undefined,
  );
  const make = (path: string, body: unknown) => client.must(client.post(path, body));
  await make(`${apps}/deployments`, {
    metadata: { name: 'web' },
    spec: { replicas: 3, ...selected('web'), template: template('web') },
  });
  await make(`${core}/services`, service('web'));
  await make(`${apps}/statefulsets`, {
    metadata: { name: 'db' },
    spec: { replicas: 2, serviceName: 'db', ...selected('db'), template: template('db') },
  });
  await make(`${apps}/daemonsets`, {
    metadata: { name: 'agent' },
    spec: { ...selected('agent'), template: template('agent') },
  });
  await make(`${policy}/poddisruptionbudgets`, {
    metadata: { name: 'web' },
    spec: { minAvailable: 2, ...selected('web') },
  });
  await make(`${core}/resourcequotas`, { metadata: { name: 'all' }, spec: { hard: { pods: '100', secrets: '10' } } });
  await make(`${batch}/cronjobs`, {
    metadata: { name: 'idle' },
    spec: {
      schedule: '* * * * *',
      suspend: true,
      jobTemplate: { spec: { template: template('idle', { restartPolicy: 'Never' }) } },
    },
  });
  await make(`${core}/secrets`, {
    metadata: { name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  });
}

/** Grants the rights of a bootstrapping kubelet, and returns a client with them. */
async function prepareBootstrapper(
  cluster: Cluster,
  client: ApiClient,
  server: 'keelson' | 'kube-apiserver',
): Promise<ApiClient> {
  const group = 'system:bootstrappers';
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const roles = ['system:node-bootstrapper', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'];
  for (const [index, name] of roles.entries()) {
    await client.post(bindings, {
      metadata: { name: `bootstrap-${index}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
  }
  return cluster.client(server, 'system:bootstrap:abcdef', [group]);
}

const removeVolumes = (client: ApiClient) =>
  client.must(client.delete('/api/v1/persistentvolumes?labelSelector=round'));
