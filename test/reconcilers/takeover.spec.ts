import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const namespaces = '/api/v1/namespaces';
const configMaps = `${namespaces}/default/configmaps`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const asMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/**
 * Another program replaces the server's reconcilers, which leave all their work to it. It behaves as
 * kube-controller-manager.
 */
let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  const controllers = ['*', '-garbage-collector-controller', '-namespace-controller'];
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { reconcilers: { controllers, leaderElection: 'true' } } },
  );
  admin = server.admin;
});
afterAll(() => server.stop());

function good({ code, body }: Answer, wanted: number): KubeObject {
  expect([code, body.message]).toEqual([wanted, undefined]);
  return body as KubeObject;
}
async function make(name: string, owner?: KubeObject): Promise<KubeObject> {
  const ownerReferences = owner && [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner.metadata.name,
      uid: owner.metadata.uid,
      blockOwnerDeletion: true,
    },
  ];
  return good(await admin.post(configMaps, { metadata: { name, ownerReferences } }), 201);
}
const get = async (path: string) => good(await admin.get(path), 200);
const strategic = (path: string, body: object) => admin.patch(path, body, 'strategic-merge', { accept: asMetadata });
/** Waits until the remaining reconcilers have seen everything: they recreate a deleted object. */
async function settled(): Promise<void> {
  const account = `${namespaces}/default/serviceaccounts`;
  const { metadata } = await get(`${account}/default`);
  await admin.delete(`${account}/default`);
  await until(admin, account, 'default', (object) => object !== undefined && object.metadata.uid !== metadata.uid);
}

describe('dependents', () => {
  it('are kept until the program collects them', async () => {
    const owner = await make('b-owner');
    const dependent = await make('b-dependent', owner);
    await admin.delete(`${configMaps}/b-owner?propagationPolicy=Background`);
    await settled();
    const { metadata } = await get(`${configMaps}/b-dependent`);
    expect(metadata.resourceVersion).toBe(dependent.metadata.resourceVersion);
    const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
    const answer = await admin.delete(`${configMaps}/b-dependent`, { preconditions, propagationPolicy: 'Background' });
    expect(answer.code).toBe(200);
  });

  it('are awaited in foreground deletion', async () => {
    const owner = await make('f-owner');
    await make('f-dependent', owner);
    await admin.delete(`${configMaps}/f-owner?propagationPolicy=Foreground`);
    await settled();
    expect((await get(`${configMaps}/f-owner`)).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await get(`${configMaps}/f-dependent`)).metadata.deletionTimestamp).toBeUndefined();

    await admin.delete(`${configMaps}/f-dependent?propagationPolicy=Foreground`);
    for (const name of ['f-dependent', 'f-owner']) {
      const { metadata } = await get(`${configMaps}/${name}`);
      const released = { uid: metadata.uid, resourceVersion: metadata.resourceVersion, finalizers: [] };
      const answer = await admin.patch(`${configMaps}/${name}`, { metadata: released }, 'merge', {
        accept: asMetadata,
      });
      expect(good(answer, 200)).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
      expect((await admin.get(`${configMaps}/${name}`)).code).toBe(404);
    }
  });

  it('are released by the program on orphan deletion', async () => {
    const owner = await make('o-owner');
    const dependent = await make('o-dependent', owner);
    await admin.delete(`${configMaps}/o-owner?propagationPolicy=Orphan`);
    await settled();
    expect((await get(`${configMaps}/o-owner`)).metadata.finalizers).toEqual(['orphan']);
    expect((await get(`${configMaps}/o-dependent`)).metadata.ownerReferences).toHaveLength(1);

    const drop = (uid: string) => ({
      metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }] },
    });
    const other = await strategic(`${configMaps}/o-dependent`, drop('99999999-2222-3333-4444-555555555555'));
    expect([other.code, other.body.reason]).toEqual([422, 'Invalid']);
    good(await strategic(`${configMaps}/o-dependent`, drop(dependent.metadata.uid!)), 200);
    expect((await get(`${configMaps}/o-dependent`)).metadata.ownerReferences).toBeUndefined();
    const released = { metadata: { uid: owner.metadata.uid, finalizers: null } };
    good(await strategic(`${configMaps}/o-owner`, released), 200);
    expect((await admin.get(`${configMaps}/o-owner`)).code).toBe(404);
  });
});

describe('a namespace', () => {
  it('stays with its content until the program deletes it and finalizes the namespace', async () => {
    good(await admin.post(namespaces, { metadata: { name: 'left' } }), 201);
    const inside = `${namespaces}/left/configmaps`;
    good(await admin.post(inside, { metadata: { name: 'a' } }), 201);
    good(await admin.delete(`${namespaces}/left`), 200);
    await settled();
    const terminating = await get(`${namespaces}/left`);
    expect(terminating).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } });
    expect((await admin.get(`${inside}/a`)).code).toBe(200);

    const early = await admin.patch(`${namespaces}/left`, { spec: { finalizers: [] } });
    expect(good(early, 200)).toMatchObject({ spec: { finalizers: ['kubernetes'] } });
    good(await admin.delete(inside, { propagationPolicy: 'Background' }), 200);
    expect((await admin.get(inside)).body.items).toEqual([]);
    const condition = {
      type: 'NamespaceDeletionContentFailure',
      status: 'False',
      reason: 'ContentDeleted',
      message: 'all of it',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    const status = { ...(await get(`${namespaces}/left`)), status: { phase: 'Terminating', conditions: [condition] } };
    const told = good(await admin.put(`${namespaces}/left/status`, status), 200);
    expect(told).toMatchObject({ status: { conditions: [condition] } });

    const stale = await admin.put(`${namespaces}/left/finalize`, { ...terminating, spec: { finalizers: [] } });
    expect([stale.code, stale.body.reason]).toEqual([409, 'Conflict']);
    good(await admin.put(`${namespaces}/left/finalize`, { ...told, spec: { finalizers: [] } }), 200);
    await untilGone(admin, namespaces, 'left');
  });
});

describe('a Lease', () => {
  const leaseOf = (holder: string, transitions: number, metadata: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system', ...metadata },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-02T03:04:05.000006Z',
      renewTime: '2026-01-02T03:04:05.000006Z',
      leaseTransitions: transitions,
    },
  });

  it("of the program is separate from the server's, and has one holder", async () => {
    const path = `${leases}/kube-controller-manager`;
    expect((await admin.get(path)).code).toBe(404);
    const lease = leaseOf('one_1', 0, {});
    const taken = good(await admin.post(leases, lease), 201);
    expect(taken).toMatchObject({ spec: lease.spec });
    expect((await admin.post(leases, leaseOf('two_2', 0, {}))).code).toBe(409);
    const { resourceVersion } = taken.metadata;
    const both = await Promise.all(
      ['two_2', 'three_3'].map((holder) => admin.put(path, leaseOf(holder, 1, { resourceVersion }))),
    );
    expect(both.map(({ code }) => code).sort()).toEqual([200, 409]);
    // The server's reconcilers continue under their own name.
    expect((await get(`${leases}/keelson-reconcilers`))['spec']).toMatchObject({ leaseTransitions: 0 });
  });
});
