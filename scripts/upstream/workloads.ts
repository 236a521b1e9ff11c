import { X509Certificate } from 'node:crypto';
import { asFields, asItems, asText, valueAt, type Fields } from '../../src/machinery/fields.js';
import type { ApiClient } from './api-client.js';
import { certificateRequest } from './certificate-request.js';
import { eventually, type Checks } from './checks.js';
import { endsAtOnce } from './simulated-kubelet.js';

/** Checks of kube-controller-manager and kube-scheduler, each in a namespace of its own. */
interface Round {
  readonly client: ApiClient;
  readonly checks: Checks;
  readonly namespace: string;
  readonly nodes: number;
  /** A client that requests certificates as a bootstrapping kubelet does. */
  readonly bootstrapper: ApiClient;
}

const quickMsMax = 90_000;
const cronMsMax = 130_000;

export const pathsOf = (namespace: string) => ({
  core: `/api/v1/namespaces/${namespace}`,
  apps: `/apis/apps/v1/namespaces/${namespace}`,
  batch: `/apis/batch/v1/namespaces/${namespace}`,
  policy: `/apis/policy/v1/namespaces/${namespace}`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  devices: `/apis/resource.k8s.io/v1/namespaces/${namespace}`,
});

export const template = (app: string, spec: Fields = {}, labels: Fields = {}) => ({
  metadata: { labels: { app, ...labels } },
  spec: { containers: [{ name: 'main', image: 'example.com/app:1' }], terminationGracePeriodSeconds: 1, ...spec },
});

export const selected = (app: string) => ({ selector: { matchLabels: { app } } });

export const service = (name: string) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }] },
});

/** Waits until fields of an object have the given values. */
async function untilIs(client: ApiClient, path: string, want: Readonly<Record<string, unknown>>, msMax = quickMsMax) {
  let seen = '';
  return eventually(
    path,
    async () => {
      const { code, body } = await client.get(path);
      const found = Object.keys(want).map((at) => valueAt(body, at.split('.')));
      seen = `code ${code}, ${Object.keys(want)
        .map((at, index) => `${at}=${JSON.stringify(found[index])}`)
        .join(', ')}`;
      return Object.values(want).every((value, index) => value === found[index]) ? body : undefined;
    },
    msMax,
    () => `(${seen})`,
  );
}

const untilGone = (client: ApiClient, path: string, msMax = quickMsMax) =>
  eventually(`${path} is gone`, async () => ((await client.get(path)).code === 404 ? true : undefined), msMax);

async function names(client: ApiClient, path: string): Promise<string[]> {
  const { items } = await client.must(client.get(path));
  return asItems(items).map((item) => asText(asFields(item['metadata'])['name']));
}

const untilCount = (client: ApiClient, path: string, count: number) =>
  eventually(`${count} of ${path}`, async () => {
    const found = await names(client, path);
    return found.length === count ? found : undefined;
  });

const hasCondition = (object: Fields, type: string) =>
  asItems(asFields(object['status'])['conditions']).some((one) => one['type'] === type && one['status'] === 'True');

/** Runs all checks in a namespace of their own, and deletes it. */
export async function runRound(round: Round): Promise<void> {
  const { client, checks, namespace } = round;
  const { core } = pathsOf(namespace);
  const add = (name: string, action: () => Promise<string | void>) => checks.run(`${namespace}: ${name}`, action);
  await client.must(client.post('/api/v1/namespaces', { metadata: { name: namespace } }));
  await add('namespace gets its ServiceAccount and kube-root-ca.crt', async () => {
    await eventually('serviceaccount', async () => {
      const both = [`${core}/serviceaccounts/default`, `${core}/configmaps/kube-root-ca.crt`];
      const answers = await Promise.all(both.map((path) => client.get(path)));
      return answers.every(({ code }) => code === 200) ? true : undefined;
    });
  });
  const cron = startCronJob(round, add);
  await workloadChecks(round, add);
  await storageChecks(round, add);
  await accessChecks(round, add);
  await collectorChecks(round, add);
  await cron;
  await add('deleted namespace is emptied and removed', async () => {
    const start = performance.now();
    await client.must(client.delete(`/api/v1/namespaces/${namespace}`));
    await untilGone(client, `/api/v1/namespaces/${namespace}`, 120_000);
    return `${((performance.now() - start) / 1000).toFixed(1)} s`;
  });
}

type Add = (name: string, action: () => Promise<string | void>) => Promise<void>;

function startCronJob({ client, namespace }: Round, add: Add): Promise<void> {
  const { batch } = pathsOf(namespace);
  return add('CronJob starts a Job each minute', async () => {
    const spec = { template: template('cron', { restartPolicy: 'Never' }, { [endsAtOnce]: 'true' }) };
    await client.must(
      client.post(`${batch}/cronjobs`, {
        metadata: { name: 'cron' },
        spec: { schedule: '* * * * *', jobTemplate: { spec }, successfulJobsHistoryLimit: 1 },
      }),
    );
    await eventually(
      'a finished Job',
      async () => {
        const { body } = await client.get(`${batch}/cronjobs/cron`);
        return valueAt(body, ['status', 'lastSuccessfulTime']);
      },
      cronMsMax,
    );
    await client.must(client.patch(`${batch}/cronjobs/cron`, { spec: { suspend: true } }));
  });
}

async function workloadChecks({ client, namespace, nodes }: Round, add: Add): Promise<void> {
  const { core, apps, batch, policy, slices } = pathsOf(namespace);
  await add('Deployment becomes available', async () => {
    const body = { metadata: { name: 'web' }, spec: { replicas: 3, ...selected('web'), template: template('web') } };
    await client.must(client.post(`${apps}/deployments`, body));
    await client.must(client.post(`${core}/services`, service('web')));
    await untilIs(client, `${apps}/deployments/web`, { 'status.availableReplicas': 3, 'status.observedGeneration': 1 });
  });
  await add('Service has three ready endpoints', async () => {
    await eventually('endpoints', async () => {
      const { items } = await client.must(client.get(`${slices}?labelSelector=kubernetes.io/service-name=web`));
      const ready = asItems(items).flatMap((slice) => asItems(slice['endpoints']));
      const endpoints = await client.get(`${core}/endpoints/web`);
      const addresses = asItems(endpoints.body['subsets']).flatMap((subset) => asItems(subset['addresses']));
      return ready.length === 3 && addresses.length === 3 ? true : undefined;
    });
  });
  await add('Deployment rolls out another image', async () => {
    const spec = { template: { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } } };
    const answer = await client.must(client.patch(`${apps}/deployments/web`, { spec }, 'strategic'));
    await untilIs(client, `${apps}/deployments/web`, {
      'status.observedGeneration': valueAt(answer, ['metadata', 'generation']),
      'status.updatedReplicas': 3,
      'status.replicas': 3,
      'status.availableReplicas': 3,
    });
    await untilCount(client, `${apps}/replicasets?labelSelector=app=web`, 2);
  });
  await add('Deployment scales by its scale subresource', async () => {
    await client.must(client.patch(`${apps}/deployments/web/scale`, { spec: { replicas: 5 } }));
    await untilIs(client, `${apps}/deployments/web`, { 'status.availableReplicas': 5 });
  });
  await add('PodDisruptionBudget grants one eviction and refuses the next', async () => {
    const pdb = `${policy}/poddisruptionbudgets`;
    await client.must(client.post(pdb, { metadata: { name: 'web' }, spec: { minAvailable: 4, ...selected('web') } }));
    await untilIs(client, `${pdb}/web`, { 'status.disruptionsAllowed': 1, 'status.currentHealthy': 5 });
    const [first, second] = await names(client, `${core}/pods?labelSelector=app=web`);
    const evict = (name: string) => client.post(`${core}/pods/${name}/eviction`, { metadata: { name } });
    const codes = [(await evict(first!)).code, (await evict(second!)).code];
    if (codes.join() !== '201,429') throw new Error(`the evictions were answered with ${codes.join()}`);
    await untilIs(client, `${pdb}/web`, { 'status.disruptionsAllowed': 1, 'status.currentHealthy': 5 });
  });
  await add('DaemonSet runs on every node', async () => {
    const body = { metadata: { name: 'agent' }, spec: { ...selected('agent'), template: template('agent') } };
    await client.must(client.post(`${apps}/daemonsets`, body));
    await untilIs(client, `${apps}/daemonsets/agent`, { 'status.numberReady': nodes });
  });
  await add('Job completes, and goes after its ttlSecondsAfterFinished', async () => {
    const body = {
      metadata: { name: 'report' },
      spec: {
        completions: 3,
        parallelism: 2,
        ttlSecondsAfterFinished: 3,
        template: template('report', { restartPolicy: 'Never' }, { [endsAtOnce]: 'true' }),
      },
    };
    await client.must(client.post(`${batch}/jobs`, body));
    await untilIs(client, `${batch}/jobs/report`, { 'status.succeeded': 3 });
    await untilGone(client, `${batch}/jobs/report`);
    await untilCount(client, `${core}/pods?labelSelector=app=report`, 0);
  });
}

async function storageChecks({ client, namespace }: Round, add: Add): Promise<void> {
  const { core, apps } = pathsOf(namespace);
  const volume = (name: string) => ({
    metadata: { name, labels: { round: namespace } },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: namespace,
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: '/tmp' },
    },
  });
  const claim = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: namespace,
    resources: { requests: { storage: '1Gi' } },
  };
  for (const index of [0, 1, 2]) {
    await client.must(client.post('/api/v1/persistentvolumes', volume(`${namespace}-${index}`)));
  }
  await add('StatefulSet gets bound claims and runs', async () => {
    const body = {
      metadata: { name: 'db' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        ...selected('db'),
        template: template('db', {
          containers: [{ name: 'main', image: 'example.com/db:1', volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
        }),
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    };
    await client.must(client.post(`${apps}/statefulsets`, body));
    await untilIs(client, `${apps}/statefulsets/db`, { 'status.readyReplicas': 2 });
    await untilIs(client, `${core}/persistentvolumeclaims/data-db-0`, { 'status.phase': 'Bound' });
  });
  await add('deleted claim stays while a Pod uses it, then goes, and its volume is released', async () => {
    const path = `${core}/persistentvolumeclaims/data`;
    await client.must(client.post(`${core}/persistentvolumeclaims`, { metadata: { name: 'data' }, spec: claim }));
    const bound = await untilIs(client, path, { 'status.phase': 'Bound' });
    const spec = {
      containers: [{ name: 'main', image: 'example.com/app:1' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    };
    await client.must(client.post(`${core}/pods`, { metadata: { name: 'user' }, spec }));
    await untilIs(client, `${core}/pods/user`, { 'status.phase': 'Running' });
    await client.must(client.delete(path));
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    if ((await client.get(path)).code !== 200) throw new Error('the claim was deleted while a Pod used it');
    await client.must(client.delete(`${core}/pods/user`));
    await untilGone(client, path);
    const name = asText(valueAt(bound, ['spec', 'volumeName']));
    await untilIs(client, `/api/v1/persistentvolumes/${name}`, { 'status.phase': 'Released' });
  });
  await add('ResourceClaim is made from its template for a Pod', async () => {
    const { devices } = pathsOf(namespace);
    const body = {
      metadata: { name: 'gpu' },
      spec: { spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'none' } }] } } },
    };
    await client.must(client.post(`${devices}/resourceclaimtemplates`, body));
    const spec = {
      containers: [{ name: 'main', image: 'example.com/app:1', resources: { claims: [{ name: 'gpu' }] } }],
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }],
    };
    await client.must(client.post(`${core}/pods`, { metadata: { name: 'gpu' }, spec }));
    await untilCount(client, `${devices}/resourceclaims`, 1);
    await client.must(client.delete(`${core}/pods/gpu`));
    await untilCount(client, `${devices}/resourceclaims`, 0);
  });
}

async function accessChecks({ client, namespace, bootstrapper }: Round, add: Add): Promise<void> {
  const { core } = pathsOf(namespace);
  await add('ResourceQuota counts, refuses what is beyond it, and counts deletions', async () => {
    const path = `${core}/resourcequotas/few`;
    const hard = { configmaps: '4', 'count/secrets': '1' };
    await client.must(client.post(`${core}/resourcequotas`, { metadata: { name: 'few' }, spec: { hard } }));
    await untilIs(client, path, { 'status.used.configmaps': '1' });
    const codes = [];
    for (const name of ['a', 'b', 'c', 'd'])
      codes.push((await client.post(`${core}/configmaps`, { metadata: { name } })).code);
    if (codes.join() !== '201,201,201,403') throw new Error(`the creations were answered with ${codes.join()}`);
    for (const name of ['a', 'b', 'c']) await client.must(client.delete(`${core}/configmaps/${name}`));
    await untilIs(client, path, { 'status.used.configmaps': '1' });
    await client.must(client.delete(path));
  });
  await add('token Secret is filled', async () => {
    const metadata = { name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } };
    const body = { metadata, type: 'kubernetes.io/service-account-token' };
    await client.must(client.post(`${core}/secrets`, body));
    await eventually('token', async () => valueAt((await client.get(`${core}/secrets/token`)).body, ['data', 'token']));
  });
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const issued = async (name: string) => {
    const text = await eventually('a certificate', async () => {
      const found = asText(valueAt((await client.get(`${requests}/${name}`)).body, ['status', 'certificate']));
      return found === '' ? undefined : found;
    });
    return new X509Certificate(Buffer.from(text, 'base64')).subject.replaceAll('\n', ',');
  };
  await add('approved certificate request is signed', async () => {
    const name = `${namespace}-client`;
    const spec = { request: await certificateRequest('CN=somebody'), usages: ['client auth'] };
    const body = { metadata: { name }, spec: { ...spec, signerName: 'kubernetes.io/kube-apiserver-client' } };
    const made = await client.must(client.post(requests, body));
    const approved = { type: 'Approved', status: 'True', reason: 'ByHand', message: 'fine' };
    await client.must(client.put(`${requests}/${name}/approval`, { ...made, status: { conditions: [approved] } }));
    return issued(name);
  });
  await add("kubelet's certificate request is approved and signed by itself", async () => {
    const name = `${namespace}-kubelet`;
    const request = await certificateRequest('O=system:nodes,CN=system:node:fresh');
    const spec = { request, usages: ['digital signature', 'client auth'] };
    const body = { metadata: { name }, spec: { ...spec, signerName: 'kubernetes.io/kube-apiserver-client-kubelet' } };
    await client.must(bootstrapper.post(requests, body));
    return issued(name);
  });
  await add('aggregated ClusterRole is filled', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    const labels = { [`part-of-${namespace}`]: 'true' };
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
    await client.must(client.post(roles, { metadata: { name: `${namespace}-all` }, aggregationRule, rules: [] }));
    await client.must(client.post(roles, { metadata: { name: `${namespace}-part`, labels }, rules }));
    await eventually('rules', async () => {
      const { body } = await client.get(`${roles}/${namespace}-all`);
      return asItems(body['rules']).length === 1 ? true : undefined;
    });
    for (const name of ['all', 'part']) await client.must(client.delete(`${roles}/${namespace}-${name}`));
  });
}

async function collectorChecks({ client, namespace }: Round, add: Add): Promise<void> {
  const { core, apps } = pathsOf(namespace);
  await add('orphaned ReplicaSets and Pods stay', async () => {
    const body = { metadata: { name: 'left' }, spec: { replicas: 1, ...selected('left'), template: template('left') } };
    await client.must(client.post(`${apps}/deployments`, body));
    await untilIs(client, `${apps}/deployments/left`, { 'status.availableReplicas': 1 });
    await client.must(client.delete(`${apps}/deployments/left`, { propagationPolicy: 'Orphan' }));
    await untilGone(client, `${apps}/deployments/left`);
    await untilCount(client, `${apps}/replicasets?labelSelector=app=left`, 1);
  });
  await add('foreground deletion of a Deployment removes its Pods first', async () => {
    await client.must(client.delete(`${apps}/deployments/web`, { propagationPolicy: 'Foreground' }));
    await untilGone(client, `${apps}/deployments/web`);
    const left = await names(client, `${core}/pods?labelSelector=app=web`);
    if (left.length > 0) throw new Error(`${left.length} Pods outlived their Deployment`);
  });
  await add('background deletion of a StatefulSet removes its Pods', async () => {
    await client.must(client.delete(`${apps}/statefulsets/db`));
    await untilCount(client, `${core}/pods?labelSelector=app=db`, 0);
  });
}

/** A node whose kubelet is silent is tainted, and its Pods are evicted. */
export async function checkLostNode(
  client: ApiClient,
  checks: Checks,
  name: string,
  kubelets: { lose(name: string): void; recover(name: string): Promise<void> },
): Promise<void> {
  await checks.run('node without heartbeats becomes unreachable and is tainted', async () => {
    const path = `/api/v1/nodes/${name}`;
    const start = performance.now();
    kubelets.lose(name);
    await eventually(
      'the taint',
      async () => {
        const node = await client.must(client.get(path));
        const isTainted = asItems(valueAt(node, ['spec', 'taints'])).some(
          ({ key, effect }) => key === 'node.kubernetes.io/unreachable' && effect === 'NoExecute',
        );
        return isTainted && !hasCondition(node, 'Ready') ? true : undefined;
      },
      180_000,
    );
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    await kubelets.recover(name);
    await eventually('no taint', async () => {
      const node = await client.must(client.get(path));
      return asItems(valueAt(node, ['spec', 'taints'])).length === 0 ? true : undefined;
    });
    return `after ${seconds} s`;
  });
}
