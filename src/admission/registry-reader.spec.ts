import { registryOf } from '../../test/harness/shell.js';
import { createObject } from '../registry/write/create.js';
import { noAdmission, type WriteContext } from '../registry/write/write-context.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import { defaultTable } from '../registry/definition/table.js';
import { RegistryLedger } from './quota/registry-ledger.js';
import { RegistryReader } from './registry-reader.js';
import { attributesOf } from '../../test/harness/admission.js';

const core = { group: '', version: 'v1', strategy: { validateName: () => [] }, table: defaultTable };
const registry = registryOf([
  defineResource({ ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false }),
  defineResource({ ...core, kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true }),
  defineResource({ ...core, kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true }),
]);
const { feed, kv } = registry.require('', 'v1', 'namespaces').store.dependencies;
const reader = new RegistryReader(registry);

const context: WriteContext = {
  request: attributesOf({}).request,
  admission: noAdmission,
  managedFields: { mode: 'none' },
};

async function create(resource: string, name: string, namespace?: string, more: object = {}): Promise<void> {
  const { store } = registry.require('', 'v1', resource);
  const { kind } = store.definition;
  const object = { kind, apiVersion: 'v1', metadata: { name, ...(namespace !== undefined && { namespace }) }, ...more };
  await createObject(store, object, context);
  // Waits until the cache has the object.
  await store.get(namespace ?? '', name);
}

beforeAll(async () => {
  await feed.start(new AbortController().signal);
  await create('namespaces', 'default');
  await create('serviceaccounts', 'default', 'default');
  await create('serviceaccounts', 'default', 'kube-system');
});
afterAll(async () => {
  await feed.close();
  await kv.close();
});

const namespaces = { group: '', resource: 'namespaces' };
const accounts = { group: '', resource: 'serviceaccounts' };

it.each([
  { name: 'an object without a namespace', of: namespaces, namespace: '', object: 'default', isThere: true },
  { name: 'an object in a namespace', of: accounts, namespace: 'kube-system', object: 'default', isThere: true },
  { name: 'no object with an unknown name', of: namespaces, namespace: '', object: 'none', isThere: false },
  { name: 'no object in an unknown namespace', of: accounts, namespace: 'none', object: 'default', isThere: false },
  {
    name: 'no object of a resource that is not served',
    of: { group: 'example.com', resource: 'x' },
    namespace: '',
    object: 'x',
    isThere: false,
  },
])('finds $name', async ({ of, namespace, object, isThere }) => {
  const found = [reader.cached(of, namespace, object), await reader.live(of, namespace, object)];
  expect(found.map((one) => one?.metadata.name)).toEqual(isThere ? [object, object] : [undefined, undefined]);
});

it('lists one namespace, or all namespaces for an empty name', () => {
  const inOne = reader.list(accounts, 'kube-system').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(inOne).toContain('kube-system/default');
  expect(inOne.filter((place) => !place.startsWith('kube-system/'))).toEqual([]);
  expect(reader.list(accounts, '').length).toBeGreaterThan(inOne.length);
  expect(reader.list({ group: 'example.com', resource: 'x' }, '')).toEqual([]);
});

it('scans one namespace or all, with the number of objects', () => {
  for (const namespace of ['kube-system', '']) {
    const { count, objects } = reader.scan(accounts, namespace);
    expect([...objects]).toEqual(reader.list(accounts, namespace));
    expect(count).toBe(reader.list(accounts, namespace).length);
  }
  expect(reader.scan({ group: 'example.com', resource: 'x' }, '')).toEqual({ count: 0, objects: [] });
});

it('parses an object once, however often it is read', () => {
  expect(reader.cached(namespaces, '', 'default')).toBe(reader.cached(namespaces, '', 'default'));
});

describe('RegistryLedger', () => {
  const ledger = new RegistryLedger(registry, reader);
  const status = { hard: { pods: '5' }, used: { pods: '0' } };

  it('charges a quota once for each resourceVersion; the second charge fails', async () => {
    await create('resourcequotas', 'q', 'default', { spec: { hard: { pods: '5' } }, status });
    const [seen] = ledger.quotas('default');
    expect(await ledger.charge(seen!, { pods: '1' }, undefined)).toBe(true);
    expect(await ledger.charge(seen!, { pods: '1' }, undefined)).toBe(false);
    expect((await ledger.latest(seen!, undefined))!['status']).toEqual({ ...status, used: { pods: '1' } });
  });

  it('returns its last write as the latest known quota until the cache has it', async () => {
    await create('resourcequotas', 'q', 'kube-system', { spec: { hard: { pods: '5' } }, status });
    const [seen] = ledger.quotas('kube-system');
    await ledger.charge(seen!, { pods: '1' }, undefined);
    const known = ledger.latestKnown(seen!);
    expect(known['status']).toEqual({ ...status, used: { pods: '1' } });
    expect(await ledger.charge(known, { pods: '2' }, undefined)).toBe(true);
    const latest = (await ledger.latest(seen!, undefined))!;
    expect(ledger.latestKnown(latest)).toBe(latest);
  });

  it('returns undefined for a deleted quota', async () => {
    const gone = {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: { name: 'gone', namespace: 'default', uid: 'u' },
    };
    expect(await ledger.latest(gone, undefined)).toBeUndefined();
  });
});
