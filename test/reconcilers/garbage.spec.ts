import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject, OwnerReference } from '../../src/machinery/kube-object.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const merge = { 'content-type': 'application/merge-patch+json' };
const hold = ['example.com/hold'];

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  admin = server.admin;
});
afterAll(() => server.stop());

interface Given {
  readonly owners?: readonly (KubeObject | OwnerReference)[];
  readonly blocks?: boolean;
  readonly finalizers?: readonly string[];
  readonly collection?: string;
}

function referenceTo(owner: KubeObject | OwnerReference, blocks = false): OwnerReference {
  const reference =
    'metadata' in owner
      ? { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name!, uid: owner.metadata.uid! }
      : owner;
  return { ...reference, ...(blocks && { blockOwnerDeletion: true }) };
}

async function make(
  name: string,
  { owners = [], blocks, finalizers, collection = configMaps }: Given = {},
  by = admin,
) {
  const ownerReferences = owners.map((owner) => referenceTo(owner, blocks));
  const answer = await by.post(collection, { metadata: { name, ownerReferences, finalizers } });
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  return answer.body as KubeObject;
}
const patch = (name: string, metadata: object, by = admin) =>
  by.request('PATCH', `${configMaps}/${name}`, { body: { metadata }, headers: merge });
const remove = (name: string, propagationPolicy: string) =>
  admin.delete(`${configMaps}/${name}?propagationPolicy=${propagationPolicy}`);
const metadataOf = async (name: string) => (await admin.get(`${configMaps}/${name}`)).body.metadata;
/** Waits until everything earlier was processed: an object with an absent owner is deleted. */
async function settled(): Promise<void> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '11111111-2222-3333-4444-555555555555' };
  await make('marker', { owners: [owner] });
  await untilGone(admin, configMaps, 'marker');
}

it('background deletion deletes dependents and their dependents', async () => {
  const owner = await make('a-owner');
  const dependent = await make('a-dependent', { owners: [owner] });
  await make('a-last', { owners: [dependent] });
  expect((await remove('a-owner', 'Background')).body).toMatchObject({ kind: 'Status', status: 'Success' });
  await untilGone(admin, configMaps, 'a-last');
  expect((await admin.get(`${configMaps}/a-dependent`)).code).toBe(404);
});

it('foreground deletion waits for blocking dependents', async () => {
  const owner = await make('f-owner');
  await make('f-blocks', { owners: [owner], blocks: true, finalizers: hold });
  await make('f-does-not', { owners: [owner], finalizers: hold });
  expect((await remove('f-owner', 'Foreground')).body.metadata.finalizers).toEqual(['foregroundDeletion']);
  for (const name of ['f-blocks', 'f-does-not']) {
    await until(admin, configMaps, name, (object) => object!.metadata.deletionTimestamp !== undefined);
  }
  expect((await metadataOf('f-owner')).finalizers).toEqual(['foregroundDeletion']);
  await patch('f-blocks', { finalizers: null });
  await untilGone(admin, configMaps, 'f-owner');
  expect((await metadataOf('f-does-not')).deletionTimestamp).toBeDefined();
  await patch('f-does-not', { finalizers: null });
});

it('foreground deletion deletes a tree from its leaves', async () => {
  const root = await make('t-root');
  const branch = await make('t-branch', { owners: [root], blocks: true });
  await make('t-leaf', { owners: [branch], blocks: true, finalizers: hold });
  await remove('t-root', 'Foreground');
  const waits = (object: KubeObject | undefined) =>
    object?.metadata.finalizers?.includes('foregroundDeletion') ?? false;
  await until(admin, configMaps, 't-branch', (object) => waits(object) && !!object!.metadata.deletionTimestamp);
  await until(admin, configMaps, 't-leaf', (object) => object!.metadata.deletionTimestamp !== undefined);
  await patch('t-leaf', { finalizers: null });
  await untilGone(admin, configMaps, 't-root');
  expect((await admin.get(`${configMaps}/t-branch`)).code).toBe(404);
});

it('orphan deletion keeps dependents without the ownerReference', async () => {
  const owner = await make('o-owner');
  const other = await make('o-other');
  await make('o-only', { owners: [owner] });
  await make('o-both', { owners: [owner, other] });
  await remove('o-owner', 'Orphan');
  await untilGone(admin, configMaps, 'o-owner');
  await settled();
  expect((await metadataOf('o-only')).ownerReferences).toBeUndefined();
  expect((await metadataOf('o-both')).ownerReferences).toEqual([referenceTo(other)]);
});

it('an object with another owner is kept without the deleted one', async () => {
  const [gone, stays] = [await make('k-gone'), await make('k-stays')];
  await make('k', { owners: [gone, stays] });
  await remove('k-gone', 'Background');
  const kept = await until(admin, configMaps, 'k', (object) => object!.metadata.ownerReferences!.length === 1);
  expect(kept!.metadata.ownerReferences).toEqual([referenceTo(stays)]);
});

it.each(['Background', 'Foreground'])('cycles are deleted: %s', async (policy) => {
  const at = policy.toLowerCase();
  const first = await make(`${at}-1`);
  const second = await make(`${at}-2`, { owners: [first], blocks: true });
  const third = await make(`${at}-3`, { owners: [second], blocks: true });
  await patch(`${at}-1`, { ownerReferences: [referenceTo(third, true)] });
  await settled();
  expect((await admin.get(`${configMaps}/${at}-1`)).code).toBe(200);
  await remove(`${at}-2`, policy);
  for (const name of [1, 2, 3]) await untilGone(admin, configMaps, `${at}-${name}`);
});

describe('an absent owner', () => {
  it('is one with another uid', async () => {
    const owner = await make('u-owner');
    await make('u', { owners: [{ ...referenceTo(owner), uid: '99999999-2222-3333-4444-555555555555' }] });
    await untilGone(admin, configMaps, 'u');
    expect((await admin.get(`${configMaps}/u-owner`)).code).toBe(200);
  });

  it('is one that was created again', async () => {
    const owner = await make('m-owner');
    await make('m', { owners: [owner] });
    await admin.delete(`${configMaps}/m-owner?propagationPolicy=Background`);
    await make('m-owner');
    await untilGone(admin, configMaps, 'm');
  });

  it('is one in another namespace', async () => {
    const owner = await make('n-owner', { collection: '/api/v1/namespaces/kube-system/configmaps' });
    await make('n', { owners: [owner] });
    await untilGone(admin, configMaps, 'n');
    expect((await admin.get('/api/v1/namespaces/kube-system/configmaps/n-owner')).code).toBe(200);
  });
});

it('a cluster-scoped object with a namespaced owner is kept, with a warning Event', async () => {
  const owner = await make('w-owner');
  const role = await make('w', { owners: [owner], collection: clusterRoles });
  await remove('w-owner', 'Background');
  const name = `w.${owner.metadata.uid}`;
  const event = await until(admin, '/api/v1/namespaces/default/events', name, (object) => object !== undefined);
  expect(event).toMatchObject({
    reason: 'OwnerRefInvalidNamespace',
    type: 'Warning',
    involvedObject: { name: 'w', uid: role.metadata.uid },
  });
  await settled();
  expect((await admin.get(`${clusterRoles}/w`)).code).toBe(200);
});

it('dependents of a deleted cluster-scoped owner are deleted, those of an unknown kind are kept', async () => {
  const owner = await make('c-owner', { collection: clusterRoles });
  await make('c-dependent', { owners: [owner] });
  await make('c-role', { owners: [owner], collection: clusterRoles });
  await make('c-unknown', {
    owners: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: '99999999-2222-3333-4444-555555555555' }],
  });
  await admin.delete(`${clusterRoles}/c-owner`);
  await untilGone(admin, configMaps, 'c-dependent');
  await untilGone(admin, clusterRoles, 'c-role');
  await settled();
  expect((await admin.get(`${configMaps}/c-unknown`)).code).toBe(200);
});

it('after a start, missed deletions are handled', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-garbage-'));
  const embedded = { store: 'embedded', naming: 'kubernetes' } as const;
  try {
    const idle = await startTestServer(embedded, { directory, config: { reconcilers: { controllers: [] } } });
    const gone = await make('gone', {}, idle.admin);
    const orphans = await make('orphans', {}, idle.admin);
    const waits = await make('waits', {}, idle.admin);
    await make('of-gone', { owners: [gone] }, idle.admin);
    await make('of-orphans', { owners: [orphans] }, idle.admin);
    await make('of-waits', { owners: [waits], blocks: true }, idle.admin);
    await idle.admin.delete(`${configMaps}/gone?propagationPolicy=Background`);
    await idle.admin.delete(`${configMaps}/orphans?propagationPolicy=Orphan`);
    await idle.admin.delete(`${configMaps}/waits?propagationPolicy=Foreground`);
    await idle.stop();

    const awake = await startTestServer(embedded, { directory });
    for (const name of ['of-gone', 'orphans', 'waits', 'of-waits']) await untilGone(awake.admin, configMaps, name);
    const { metadata } = (await awake.admin.get(`${configMaps}/of-orphans`)).body as KubeObject;
    expect(metadata.ownerReferences).toBeUndefined();
    await awake.stop();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
