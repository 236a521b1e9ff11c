import { nameIsDnsSubdomain } from '../../src/machinery/names.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { defineResource } from '../../src/registry/definition/resource-definition.js';
import { ResourceStore } from '../../src/registry/resource-store.js';
import { defaultTable } from '../../src/registry/definition/table.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { stopServing } from '../harness/stop-serving.js';
import { until, untilGone } from '../harness/until.js';

const widgets = defineResource({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  storagePrefix: 'shop.example.com/widgets',
  strategy: { validateName: nameIsDnsSubdomain },
  table: defaultTable,
});
const configMaps = '/api/v1/namespaces/default/configmaps';
const widgetsIn = (namespace: string) => `/apis/shop.example.com/v1/namespaces/${namespace}/widgets`;
const widget = (name: string, metadata: object = {}) => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
});

let server: TestServer;
beforeAll(async () => void (server = await startTestServer({ store: 'memory', naming: 'kubernetes' })));
afterAll(() => server.stop());

async function serveWidgets(): Promise<void> {
  const { registry, storeDependencies } = server.keelson.components;
  const store = new ResourceStore(widgets, storeDependencies);
  const resource = { type: 'stored', definition: widgets, struct: undefined, store, handlers: new Map() } as const;
  const { group, version } = widgets;
  registry.addVersion({ group, version, groupPriority: 1000, versionPriority: 15, resources: [resource] });
  await store.cache.ready;
}

it('a kind added at run time can own, be owned, and is deleted with its namespace', async () => {
  const { admin } = server;
  const early = {
    apiVersion: 'shop.example.com/v1',
    kind: 'Widget',
    name: 'none',
    uid: '11111111-2222-3333-4444-555555555555',
  };
  await admin.post(configMaps, { metadata: { name: 'early', ownerReferences: [early] } });
  await serveWidgets();
  // Before, the existence of its owner was unknown.
  await untilGone(admin, configMaps, 'early');

  const { body: owner } = await admin.post(widgetsIn('default'), widget('owner'));
  const { uid } = (owner as KubeObject).metadata;
  const reference = { apiVersion: 'shop.example.com/v1', kind: 'Widget', name: 'owner', uid, blockOwnerDeletion: true };
  await admin.post(configMaps, { metadata: { name: 'owned', ownerReferences: [reference] } });
  await admin.post(widgetsIn('default'), widget('owned', { ownerReferences: [reference] }));
  await admin.delete(`${widgetsIn('default')}/owner?propagationPolicy=Foreground`);
  await untilGone(admin, widgetsIn('default'), 'owner');
  expect((await admin.get(`${widgetsIn('default')}/owned`)).code).toBe(404);
  expect((await admin.get(`${configMaps}/owned`)).code).toBe(404);

  await admin.post('/api/v1/namespaces', { metadata: { name: 'shop' } });
  expect((await admin.post(widgetsIn('shop'), widget('w', { finalizers: ['shop.example.com/f'] }))).code).toBe(201);
  await admin.delete('/api/v1/namespaces/shop');
  const told = await until(admin, '/api/v1/namespaces', 'shop', (namespace) =>
    JSON.stringify(namespace).includes('SomeFinalizersRemain'),
  );
  expect(JSON.stringify(told)).toContain('widgets.shop.example.com has 1 resource instances');
  await admin.request('PATCH', `${widgetsIn('shop')}/w`, {
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await untilGone(admin, '/api/v1/namespaces', 'shop');
});

it('dependents are released when the kind of their owner is removed', async () => {
  const { admin } = server;
  await admin.post('/api/v1/namespaces', { metadata: { name: 'last' } });
  await admin.post(widgetsIn('last'), widget('w', { finalizers: ['shop.example.com/f'] }));
  await admin.delete('/api/v1/namespaces/last');
  await until(admin, '/api/v1/namespaces', 'last', (namespace) =>
    JSON.stringify(namespace).includes('SomeFinalizersRemain'),
  );
  stopServing(server.keelson.components.registry, widgets.group, widgets.version);
  await untilGone(admin, '/api/v1/namespaces', 'last');
});
