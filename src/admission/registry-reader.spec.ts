import { registryOf } from '../../test/harness/shell.js';
import { createObject } from '../registry/write/create.js';
import type { WriteContext } from '../registry/write/write-context.js';
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
  admission: { admit: (object) => Promise.resolve(object), validate: () => Promise.resolve() },
  managedFields: { mode: 'none' },
};

async function make(resource: string, name: string, namespace?: string, more: object = {}): Promise<void> {
  const { store } = registry.require('', 'v1', resource);
  const { kind } = store.definition;
  const object = { kind, apiVersion: 'v1', metadata: { name, ...(namespace !== undefined && { namespace }) }, ...more };
  await createObject(store, object, context);
  // The cache has seen it.
  await store.get(namespace ?? '', name);
}

beforeAll(async () => {
  await feed.start(new AbortController().signal);
  await make('namespaces', 'default');
  await make('serviceaccounts', 'default', 'default');
  await make('serviceaccounts', 'default', 'kube-system');
});
afterAll(async () => {
  await feed.close();
  await kv.close();
});

const namespaces = { group: '', resource: 'namespaces' };
const accounts = { group: '', resource: 'serviceaccounts' };

it.each([
  { name: 'an object', of: namespaces, namespace: '', object: 'default', isThere: true },
  { name: 'one of a namespace', of: accounts, namespace: 'kube-system', object: 'default', isThere: true },
  { name: 'none of this name', of: namespaces, namespace: '', object: 'none', isThere: false },
  { name: 'none of this namespace', of: accounts, namespace: 'none', object: 'default', isThere: false },
  {
    name: 'nothing of a kind that nobody serves',
    of: { group: 'example.com', resource: 'x' },
    namespace: '',
    object: 'x',
    isThere: false,
  },
])('finds $name', async ({ of, namespace, object, isThere }) => {
  const found = [reader.cached(of, namespace, object), await reader.live(of, namespace, object)];
  expect(found.map((one) => one?.metadata.name)).toEqual(isThere ? [object, object] : [undefined, undefined]);
});

it('lists a namespace, or all of them', () => {
  const inOne = reader.list(accounts, 'kube-system').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(inOne).toContain('kube-system/default');
  expect(inOne.filter((place) => !place.startsWith('kube-system/'))).toEqual([]);
  expect(reader.list(accounts, '').length).toBeGreaterThan(inOne.length);
  expect(reader.list({ group: 'example.com', resource: 'x' }, '')).toEqual([]);
});

it('parses what is asked for again once', () => {
  expect(reader.cached(namespaces, '', 'default')).toBe(reader.cached(namespaces, '', 'default'));
});

describe('quotas', () => {
  const ledger = new RegistryLedger(registry, reader);
  const status = { hard: { pods: '5' }, used: { pods: '0' } };

  it('are charged where nobody was faster', async () => {
    await make('resourcequotas', 'q', 'default', { spec: { hard: { pods: '5' } }, status });
    const [seen] = ledger.quotas('default');
    expect(await ledger.charge(seen!, { pods: '1' }, undefined)).toBe(true);
    expect(await ledger.charge(seen!, { pods: '1' }, undefined)).toBe(false);
    expect((await ledger.latest(seen!, undefined))!['status']).toEqual({ ...status, used: { pods: '1' } });
  });

  it('are remembered until the cache has seen them', async () => {
    await make('resourcequotas', 'q', 'kube-system', { spec: { hard: { pods: '5' } }, status });
    const [seen] = ledger.quotas('kube-system');
    await ledger.charge(seen!, { pods: '1' }, undefined);
    const known = ledger.latestKnown(seen!);
    expect(known['status']).toEqual({ ...status, used: { pods: '1' } });
    expect(await ledger.charge(known, { pods: '2' }, undefined)).toBe(true);
    const latest = (await ledger.latest(seen!, undefined))!;
    expect(ledger.latestKnown(latest)).toBe(latest);
  });

  it('that are gone are nobody’s', async () => {
    const gone = {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: { name: 'gone', namespace: 'default', uid: 'u' },
    };
    expect(await ledger.latest(gone, undefined)).toBeUndefined();
  });
});
