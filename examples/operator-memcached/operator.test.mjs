// On the server of $KUBECONFIG, with the whole operator: keelson test -f crd.yaml -- node --test
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKubeconfigClient } from 'keelson/client';
import { deploymentsPath, memcachedsPath, startOperator } from './operator.mjs';

const namespace = 'memcached-node';
const memcacheds = memcachedsPath(namespace);
const deploymentPath = (name) => `${deploymentsPath(namespace)}/${name}`;

let api, stop;
before(async () => {
  api = await openKubeconfigClient();
  await api.create('/api/v1/namespaces', { metadata: { name: namespace } });
  stop = startOperator(api);
});
after(async () => {
  await stop();
  api.close();
});

const create = (name, size) =>
  api.create(memcacheds, {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { name },
    spec: { size },
  });

/** Returns the object once `isReady` accepts it; `undefined` is passed if it does not exist. */
async function eventually(path, isReady) {
  for (let tries = 0; ; tries++) {
    const object = await api.get(path).catch((error) => {
      if (error.status !== 404) throw error;
    });
    if (isReady(object)) return object;
    assert(tries < 3000, `${path} did not become as expected`);
    await sleep(10);
  }
}

test('a Memcached gets a Deployment with as many replicas as its size, which it owns', async () => {
  const { metadata } = await create('owned', 3);
  const deployment = await eventually(deploymentPath('owned'), (object) => object !== undefined);
  assert.equal(deployment.spec.replicas, 3);
  assert.equal(deployment.metadata.ownerReferences[0].uid, metadata.uid);
});

test('a size that the schema forbids is refused', async () => {
  await assert.rejects(create('large', 9), { status: 422 });
});

test('a Deployment that was scaled by hand gets its replicas back, and a new size is applied', async () => {
  await create('scaled', 2);
  await eventually(deploymentPath('scaled'), (object) => object !== undefined);
  const { metadata } = await api.patch(deploymentPath('scaled'), { spec: { replicas: 7 } });
  const isNewer = (object) => object.metadata.generation > metadata.generation;
  await eventually(deploymentPath('scaled'), (object) => isNewer(object) && object.spec.replicas === 2);
  await api.patch(`${memcacheds}/scaled`, { spec: { size: 4 } });
  await eventually(deploymentPath('scaled'), ({ spec }) => spec.replicas === 4);
});

test('Available is True once all Pods are ready', async () => {
  await create('ready', 2);
  const isAvailable = (status) => (object) => object.status?.conditions?.[0].status === status;
  await eventually(`${memcacheds}/ready`, isAvailable('False'));
  await api.patch(`${deploymentPath('ready')}/status`, { status: { replicas: 2, readyReplicas: 2 } });
  await eventually(`${memcacheds}/ready`, isAvailable('True'));
});

test('a deleted Memcached is gone after an Event was recorded', async () => {
  await create('deleted', 1);
  await eventually(deploymentPath('deleted'), (object) => object !== undefined);
  await api.delete(`${memcacheds}/deleted`);
  await eventually(`${memcacheds}/deleted`, (object) => object === undefined);
  const query = { fieldSelector: 'involvedObject.name=deleted' };
  const { items } = await api.list(`/api/v1/namespaces/${namespace}/events`, { query });
  assert.equal(items[0]?.reason, 'Deleting');
});
