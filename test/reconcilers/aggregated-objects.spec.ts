import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';
import { created, installWardle, wardleIs, wardlePath, type WardleServer } from '../harness/wardle-server.js';

const namespaces = '/api/v1/namespaces';

let server: TestServer;
let admin: HttpClient;
let wardle: WardleServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  ({ admin } = server);
  wardle = await installWardle(server, 'default');
});
afterAll(async () => {
  await wardle.remove();
  await server.stop();
});

const flunders = (namespace: string) => `${wardlePath}/namespaces/${namespace}/flunders`;
const flunder = (name: string, metadata: object = {}) => ({
  ...{ apiVersion: 'wardle.example.com/v1alpha1', kind: 'Flunder' },
  metadata: { name, ...metadata },
});
const configMaps = '/api/v1/namespaces/default/configmaps';
const referenceTo = (kind: string, name: string, uid: string) => ({
  ...{ apiVersion: 'wardle.example.com/v1alpha1', kind, name, uid },
});
async function dependent(name: string, ...ownerReferences: object[]): Promise<void> {
  await created(admin, configMaps, { metadata: { name, ownerReferences } });
}

const conditionOf = (namespace: KubeObject | undefined, type: string) => {
  const { conditions = [] } = (namespace?.['status'] ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
  return conditions.find((each) => each.type === type);
};

it('the objects of a deleted namespace are deleted on aggregated servers', async () => {
  await created(admin, namespaces, { metadata: { name: 'full' } });
  for (const name of ['a', 'b', 'c']) await created(admin, flunders('full'), flunder(name));
  await created(admin, flunders('default'), flunder('kept'));
  expect((await admin.delete(`${namespaces}/full`)).code).toBe(200);
  await untilGone(admin, namespaces, 'full');
  const { body } = await admin.get(`${wardlePath}/flunders`);
  expect((body.items as KubeObject[]).map(({ metadata }) => metadata.name)).toEqual(['kept']);
});

it('a finalizer of an object on an aggregated server keeps the namespace, and a condition counts it', async () => {
  await created(admin, namespaces, { metadata: { name: 'held' } });
  await created(admin, flunders('held'), flunder('a', { finalizers: ['example.com/hold'] }));
  await admin.delete(`${namespaces}/held`);
  const held = await until(admin, namespaces, 'held', (namespace) => {
    return conditionOf(namespace, 'NamespaceFinalizersRemaining')?.status === 'True';
  });
  expect(conditionOf(held, 'NamespaceContentRemaining')).toMatchObject({
    reason: 'SomeResourcesRemain',
    message: 'Some resources are remaining: flunders.wardle.example.com has 1 resource instances',
  });
  expect((await admin.patch(`${flunders('held')}/a`, { metadata: { finalizers: null } })).code).toBe(200);
  await untilGone(admin, namespaces, 'held');
});

it('dependents are deleted after their owner on an aggregated server', async () => {
  const { metadata: owner } = await created(admin, flunders('default'), flunder('owner'));
  const { metadata: wide } = await created(admin, `${wardlePath}/fischers`, {
    ...{ apiVersion: 'wardle.example.com/v1alpha1', kind: 'Fischer', metadata: { name: 'wide' } },
  });
  const { metadata: local } = await created(admin, configMaps, { metadata: { name: 'local' } });
  await dependent('of-flunder', referenceTo('Flunder', 'owner', owner.uid));
  await dependent('of-fischer', referenceTo('Fischer', 'wide', wide.uid));
  const also = { apiVersion: 'v1', kind: 'ConfigMap', name: 'local', uid: local.uid };
  await dependent('of-both', referenceTo('Flunder', 'owner', owner.uid), also);
  await dependent('of-unknown-kind', referenceTo('Flounder', 'owner', owner.uid));
  // Another object has the name of its owner.
  await dependent('of-predecessor', referenceTo('Flunder', 'owner', '11111111-2222-3333-4444-555555555555'));
  await untilGone(admin, configMaps, 'of-predecessor');
  for (const name of ['of-flunder', 'of-fischer', 'of-both']) {
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
  }
  expect((await admin.delete(`${flunders('default')}/owner`)).code).toBe(200);
  await untilGone(admin, configMaps, 'of-flunder');
  const both = await until(admin, configMaps, 'of-both', (object) => object?.metadata.ownerReferences?.length === 1);
  expect(both!.metadata.ownerReferences).toEqual([expect.objectContaining(also)]);
  for (const name of ['of-fischer', 'of-unknown-kind']) {
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
  }
});

it('an aggregated server that does not answer keeps namespaces and dependents until it answers again', async () => {
  await created(admin, namespaces, { metadata: { name: 'blocked' } });
  const { metadata: lost } = await created(admin, flunders('default'), flunder('lost'));
  await dependent('of-lost', referenceTo('Flunder', 'lost', lost.uid));
  await wardle.kill();
  await admin.get(flunders('blocked'));
  await wardleIs(admin, 'Stale');
  await admin.delete(`${namespaces}/blocked`);
  const blocked = await until(admin, namespaces, 'blocked', (namespace) => {
    return conditionOf(namespace, 'NamespaceDeletionDiscoveryFailure')?.status === 'True';
  });
  expect(conditionOf(blocked, 'NamespaceDeletionDiscoveryFailure')).toMatchObject({
    reason: 'DiscoveryFailed',
    message:
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: wardle.example.com/v1alpha1: stale GroupVersion discovery: wardle.example.com/v1alpha1',
  });
  expect(conditionOf(blocked, 'NamespaceDeletionGroupVersionParsingFailure')).toMatchObject({ status: 'False' });
  expect((await admin.get(`${configMaps}/of-lost`)).code).toBe(200);
  await wardle.restart();
  // Its objects were in memory.
  await untilGone(admin, configMaps, 'of-lost');
  await untilGone(admin, namespaces, 'blocked');
});
