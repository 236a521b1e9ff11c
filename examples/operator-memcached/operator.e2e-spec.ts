// In the process of Jest: calls reconcile() itself, so that no test waits.
import { setUpKeelson } from 'keelson/testing';
import { deploymentsPath, memcachedsPath, reconcile } from './operator.mjs';

const keelson = setUpKeelson({ beforeAll, afterEach, afterAll }, { crds: [`${__dirname}/crd.yaml`] });

const path = `${memcachedsPath('default')}/sample`;
const deploymentPath = `${deploymentsPath('default')}/sample`;
const memcached = (size: number) => ({
  apiVersion: 'cache.example.com/v1alpha1',
  kind: 'Memcached',
  metadata: { name: 'sample' },
  spec: { size },
});
const create = (size: number) => keelson().api.create(memcachedsPath('default'), memcached(size));
const reconciled = () => reconcile(keelson().api, { namespace: 'default', name: 'sample' });
const deployment = () => keelson().api.get(deploymentPath);
const available = async () => {
  const { status } = await keelson().api.get<{ status: { conditions: unknown[] } }>(path);
  return status.conditions[0];
};

it('a Memcached gets a Deployment with as many replicas as its size, which it owns', async () => {
  const { metadata } = await create(3);
  await reconciled();
  expect(await deployment()).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Memcached', name: 'sample', uid: metadata.uid, controller: true }] },
    spec: { replicas: 3, template: { spec: { containers: [{ ports: [{ containerPort: 11211 }] }] } } },
  });
});

it('a size that the schema forbids is refused (422)', async () => {
  await expect(create(9)).rejects.toMatchObject({ status: 422 });
});

it('a Deployment that was scaled by hand gets its replicas back, and a new size is applied', async () => {
  await create(2);
  await reconciled();
  await keelson().api.patch(deploymentPath, { spec: { replicas: 7 } });
  await reconciled();
  expect(await deployment()).toMatchObject({ spec: { replicas: 2 } });
  await keelson().api.patch(path, { spec: { size: 4 } });
  await reconciled();
  expect(await deployment()).toMatchObject({ spec: { replicas: 4 } });
});

it('Available is True once all Pods are ready, and an unchanged status is not written', async () => {
  await create(2);
  await reconciled();
  expect(await available()).toMatchObject({ type: 'Available', status: 'False', message: '0 of 2 Pods are ready' });
  await keelson().api.patch(`${deploymentPath}/status`, { status: { replicas: 2, readyReplicas: 2 } });
  await reconciled();
  expect(await available()).toMatchObject({ type: 'Available', status: 'True' });
  const { metadata } = await keelson().api.get(path);
  await reconciled();
  expect((await keelson().api.get(path)).metadata).toEqual(metadata);
});

it('a deleted Memcached is gone after an Event was recorded', async () => {
  await create(1);
  await reconciled();
  await keelson().api.delete(path);
  await reconciled();
  await expect(keelson().api.get(path)).rejects.toMatchObject({ status: 404 });
  const { items } = await keelson().api.list('/api/v1/namespaces/default/events');
  expect(items).toMatchObject([{ reason: 'Deleting', involvedObject: { name: 'sample' } }]);
});
