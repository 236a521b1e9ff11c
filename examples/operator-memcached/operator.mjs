// An operator that runs a Deployment of memcached for each Memcached, reports in the status whether all of its Pods are
// ready, and records an Event before a Memcached is gone.
import { setTimeout as sleep } from 'node:timers/promises';

const group = 'cache.example.com';
const finalizer = `${group}/finalizer`;
const query = { fieldManager: 'memcached-operator', force: true };
const retryMs = 100;

/** @param {string} namespace */
export const memcachedsPath = (namespace) => `/apis/${group}/v1alpha1/namespaces/${namespace}/memcacheds`;
/** @param {string} namespace */
export const deploymentsPath = (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`;

/** Brings the Deployment and the status of one Memcached up to date. */
export async function reconcile(api, { namespace, name }) {
  const path = `${memcachedsPath(namespace)}/${name}`;
  const memcached = await unless404(api.get(path));
  if (memcached === undefined) return;
  const { metadata } = memcached;
  const { finalizers = [], resourceVersion } = metadata;
  if (metadata.deletionTimestamp !== undefined) {
    if (!finalizers.includes(finalizer)) return;
    await recordDeletion(api, memcached);
    const rest = finalizers.filter((one) => one !== finalizer);
    await unless404(api.patch(path, { metadata: { resourceVersion, finalizers: rest } }));
    return;
  }
  if (!finalizers.includes(finalizer)) {
    await api.patch(path, { metadata: { resourceVersion, finalizers: [...finalizers, finalizer] } });
  }
  const options = { type: 'apply', query };
  const deployment = await api.patch(`${deploymentsPath(namespace)}/${name}`, deploymentOf(memcached), options);
  await reportAvailability(api, path, memcached, deployment.status?.readyReplicas ?? 0);
}

function deploymentOf({ apiVersion, kind, metadata: { name, uid }, spec }) {
  const labels = { 'app.kubernetes.io/name': 'memcached', 'app.kubernetes.io/instance': name };
  const ports = [{ name: 'memcached', containerPort: spec.containerPort }];
  const container = { name: 'memcached', image: 'memcached:1.6-alpine', command: ['memcached', '-m=64'], ports };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] },
    spec: {
      replicas: spec.size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

/** Writes the condition Available if it has changed. */
async function reportAvailability(api, path, { spec, status }, ready) {
  const conditionStatus = ready >= spec.size ? 'True' : 'False';
  const message = `${ready} of ${spec.size} Pods are ready`;
  const known = status?.conditions?.find(({ type }) => type === 'Available');
  if (known?.status === conditionStatus && known.message === message) return;
  const lastTransitionTime =
    known?.status === conditionStatus ? known.lastTransitionTime : new Date().toISOString().replace(/\.\d+/, '');
  const reason = conditionStatus === 'True' ? 'PodsReady' : 'PodsNotReady';
  const conditions = [{ type: 'Available', status: conditionStatus, lastTransitionTime, reason, message }];
  await unless404(api.patch(`${path}/status`, { status: { conditions } }));
}

async function recordDeletion(api, { apiVersion, kind, metadata: { namespace, name, uid } }) {
  const event = {
    metadata: { name: `${name}.${uid}` },
    involvedObject: { apiVersion, kind, namespace, name, uid },
    type: 'Warning',
    reason: 'Deleting',
    message: `Memcached ${name} is being deleted from the namespace ${namespace}`,
    source: { component: 'memcached-operator' },
  };
  // 409 after a retry; 403 in a namespace that is being deleted.
  await api.create(`/api/v1/namespaces/${namespace}/events`, event).catch((error) => {
    if (error.status !== 409 && error.status !== 403) throw error;
  });
}

/** Reconciles whatever changes, one Memcached at a time, until the result is called. */
export function startOperator(api, onError = console.error) {
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = new Set();
  let work = Promise.resolve();
  const enqueue = (namespace, name) => {
    const key = `${namespace}/${name}`;
    if (signal.aborted || waiting.has(key)) return;
    waiting.add(key);
    work = work.then(async () => {
      waiting.delete(key);
      await reconcile(api, { namespace, name }).catch((error) => {
        if (error.status !== 409) onError(error);
        setTimeout(enqueue, retryMs, namespace, name).unref();
      });
    });
  };
  const follow = async (path, enqueueFor) => {
    while (!signal.aborted) {
      try {
        const { items, metadata } = await api.list(path, { signal });
        items.forEach(enqueueFor);
        const { resourceVersion } = metadata;
        for await (const { object } of api.watch(path, { query: { resourceVersion }, signal })) enqueueFor(object);
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  };
  const following = [
    follow(`/apis/${group}/v1alpha1/memcacheds`, ({ metadata }) => enqueue(metadata.namespace, metadata.name)),
    follow('/apis/apps/v1/deployments', ({ metadata: { namespace, ownerReferences = [] } }) => {
      for (const { kind, name } of ownerReferences) if (kind === 'Memcached') enqueue(namespace, name);
    }),
  ];
  return async () => {
    controller.abort();
    await Promise.all(following);
    await work;
  };
}

async function unless404(request) {
  try {
    return await request;
  } catch (error) {
    if (error.status !== 404) throw error;
    return undefined;
  }
}
