import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKeelson, type TestKeelson } from '../../src/testing.js';
import { boatDefinition } from '../harness/boat-definition.js';
import { eventually } from '../harness/eventually.js';

const crd = boatDefinition('{ type: object, x-kubernetes-preserve-unknown-fields: true }');
const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: no-evil }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps] }]
  validations: [{ expression: "object.metadata.name != 'evil'", message: evil is forbidden }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: no-evil }
spec: { policyName: no-evil, validationActions: [Deny] }
`;
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

const path = '/api/v1/namespaces/harbour/configmaps';
let folder: string;
let keelson: TestKeelson;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-fixtures-'));
  writeFileSync(
    join(folder, 'boat.yaml'),
    'apiVersion: example.com/v1\nkind: Boat\nmetadata: { name: a, namespace: harbour }\n',
  );
  keelson = await startKeelson({
    crds: [crd],
    fixtures: [
      folder,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'harbour' } },
      { ...configMap('kept', { a: '1' }), metadata: { name: 'kept', namespace: 'harbour' } },
      { ...configMap('evil'), metadata: { name: 'evil', namespace: 'harbour' } },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n1' },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      },
    ],
    admissionPolicies: [policy],
    users: { viewer: { clusterRoles: ['view'] }, ops: { groups: ['system:masters'] } },
  });
});
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

describe('startKeelson', () => {
  it('applies definitions before objects of their kinds, and namespaces before both', async () => {
    expect(await keelson.api.get('/apis/example.com/v1/namespaces/harbour/boats/a')).toMatchObject({ kind: 'Boat' });
  });

  it('writes the status of fixtures through the subresource', async () => {
    const node = await keelson.api.get('/api/v1/nodes/n1');
    expect(node['status']).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
  });

  it('enforces admission policies for requests, and not for fixtures', async () => {
    expect(await keelson.api.get(`${path}/evil`)).toMatchObject({ kind: 'ConfigMap' });
    await expect(keelson.api.create('/api/v1/namespaces/default/configmaps', configMap('evil'))).rejects.toMatchObject({
      status: 422,
    });
  });

  it('gives users their groups and ClusterRoles, and no other permissions', async () => {
    const [viewer, ops, stranger] = await Promise.all(['viewer', 'ops', 'stranger'].map((name) => keelson.user(name)));
    await expect(viewer!.api.list(path)).resolves.toMatchObject({ kind: 'ConfigMapList' });
    await expect(viewer!.api.create(path, configMap('x'))).rejects.toMatchObject({ status: 403 });
    await expect(ops!.api.list('/api/v1/secrets')).resolves.toMatchObject({ kind: 'SecretList' });
    await expect(stranger!.api.list(path)).rejects.toMatchObject({ status: 403 });
  });

  it('refuses definitions at once with reconciles: false, and serves them without the reconcilers that can be left out', async () => {
    const crds = [crd];
    await expect(startKeelson({ reconciles: false, crds })).rejects.toThrow(
      /^the CustomResourceDefinition boats\.example\.com cannot be established with reconciles: false/,
    );
    const few = await startKeelson({ crds, config: { reconcilers: { controllers: ['-*'] } } });
    expect((await few.api.list('/apis/example.com/v1/boats')).items).toEqual([]);
    await few.stop();
  });

  it('rejects with the name of a fixture that is refused, and leaves no server behind', async () => {
    const invalid = { ...configMap('Upper_Case'), metadata: { name: 'Upper_Case' } };
    await expect(startKeelson({ fixtures: [invalid] })).rejects.toThrow(/fixture ConfigMap "Upper_Case": .*Invalid/s);
    await expect(startKeelson({ fixtures: ['/no/such/file.yaml'] })).rejects.toThrow(/there is no such file/);
  });
});

describe('snapshot() and restore()', () => {
  it('reset created, changed and deleted objects, and give watches one event for each', async () => {
    const before = await keelson.api.list(path);
    const snapshot = await keelson.snapshot();
    await keelson.api.create(path, configMap('added'));
    await keelson.api.patch(`${path}/kept`, { data: { a: '2' }, metadata: { finalizers: ['example.com/held'] } });
    await keelson.api.delete(`${path}/evil`);
    const { metadata } = await keelson.api.list(path);
    const abort = new AbortController();
    const events: string[] = [];
    const watching = (async () => {
      const query = { resourceVersion: metadata.resourceVersion! };
      for await (const { type, object } of keelson.api.watch(path, { query, signal: abort.signal }))
        events.push(`${type} ${object.metadata.name}`);
    })().catch(() => undefined);
    await keelson.restore(snapshot);
    await eventually('each change is undone by one event', () => events.length === 3);
    expect(events.sort()).toEqual(['ADDED evil', 'DELETED added', 'MODIFIED kept']);
    abort.abort();
    await watching;
    const after = await keelson.api.list(path, { query: { resourceVersion: '0' } });
    const contents = (list: typeof before) =>
      list.items.map(({ metadata: { name, uid, finalizers } = {}, data }) => ({ name, uid, finalizers, data }));
    expect(contents(after)).toEqual(contents(before));
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
  });

  it('end watches with 410 and forget older resourceVersions if asked to', async () => {
    const snapshot = await keelson.snapshot();
    await keelson.api.create(path, configMap('added'));
    const { metadata } = await keelson.api.list(path);
    const query = { resourceVersion: metadata.resourceVersion! };
    const events: unknown[] = [];
    const watching = (async () => {
      for await (const event of keelson.api.watch(path, { query })) events.push(event);
    })();
    const outcome = expect(watching).rejects.toMatchObject({ status: 410 });
    await keelson.api.create(path, configMap('seen'));
    await eventually('the watch is open', () => events.length === 1);
    await keelson.restore(snapshot, { watches: 'expire' });
    await outcome;
    expect(events).toHaveLength(1);
    await expect(keelson.api.watch(path, { query }).next()).rejects.toMatchObject({ status: 410 });
    await expect(keelson.api.get(`${path}/added`)).rejects.toMatchObject({ status: 404 });
  });

  it('remove a kind that was defined meanwhile, with its objects', async () => {
    const snapshot = await keelson.snapshot();
    await keelson.apply(crd.replaceAll('boat', 'raft').replaceAll('Boat', 'Raft'), {
      apiVersion: 'example.com/v1',
      kind: 'Raft',
      metadata: { name: 'r' },
    });
    await keelson.restore(snapshot);
    await eventually('the kind is gone', async () => {
      const { status } = await keelson.api.request({ method: 'GET', path: '/apis/example.com/v1/rafts' });
      return status === 404;
    });
    expect(await keelson.api.get('/apis/example.com/v1/namespaces/harbour/boats/a')).toMatchObject({ kind: 'Boat' });
    expect((await keelson.snapshot()).objectCount).toBe(snapshot.objectCount);
  });

  it('refuse the snapshot of another server', async () => {
    const other = await startKeelson();
    await expect(other.restore(await keelson.snapshot())).rejects.toThrow(/of the same server/);
    await other.stop();
  });

  it('restore while others write', async () => {
    const snapshot = await keelson.snapshot();
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; isWriting; n++) await keelson.api.patch(`${path}/kept`, { data: { n: `${n}` } });
    })();
    await keelson.restore(snapshot);
    isWriting = false;
    await writing;
    await keelson.restore(snapshot);
    expect(await keelson.api.get(`${path}/kept`)).toMatchObject({ data: { a: '1' } });
  });
});
