import type { Answer, HttpClient } from '../harness/http-client.js';
import { everyManifest } from '../harness/manifests.js';
import { rule, startRbacServer, type RbacUsers } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

/** Writes through subresources by users with one permission. */
const inDefault = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';

let server: TestServer;
let admin: HttpClient;
let users: RbacUsers;

beforeAll(async () => {
  ({ server, admin, users } = await startRbacServer());
});
afterAll(() => server.stop());

const made = (path: string, object: object) => users.create(path, object);

const container = { name: 'c', image: 'i', resources: { limits: { cpu: '1', memory: '1Gi' } } };
const pod = (name: string) => ({ metadata: { name }, spec: { containers: [container] } });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };

describe('a subresource requires its own permission', () => {
  const resized = { ...container, resources: { limits: { cpu: '2' }, requests: { cpu: '2' } } };
  type Row = readonly [
    subresource: string,
    apiGroup: string,
    resource: string,
    verb: string,
    attack: (user: HttpClient) => Promise<Answer>,
  ];
  // prettier-ignore
  const rows: readonly Row[] = [
    ['scale', 'apps', 'deployments', 'patch', (user) => user.patch(`${apps}/deployments/d/scale`, { spec: { replicas: 2 } })],
    ['resize', '', 'pods', 'patch', (user) => user.patch(`${inDefault}/pods/p/resize`, { spec: { containers: [resized] } }, 'strategic-merge')],
    ['ephemeralcontainers', '', 'pods', 'patch', (user) => user.patch(`${inDefault}/pods/p/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: `e-${users.latest}`, image: 'i' }] } }, 'strategic-merge')],
    ['binding', '', 'pods', 'create', (user) => user.post(`${inDefault}/pods/free/binding`, { metadata: { name: 'free' }, target: { kind: 'Node', name: 'n' } })],
    ['eviction', '', 'pods', 'create', (user) => user.post(`${inDefault}/pods/evicted/eviction`, { metadata: { name: 'evicted' } })],
    ['status', '', 'pods', 'patch', (user) => user.patch(`${inDefault}/pods/p/status`, { status: { reason: 'x' } })],
    ['token', '', 'serviceaccounts', 'create', (user) => user.post('/api/v1/namespaces/other/serviceaccounts/default/token', {})],
    ['finalize', '', 'namespaces', 'update', async (user) => user.put('/api/v1/namespaces/other/finalize', (await admin.get('/api/v1/namespaces/other')).body)],
  ];

  beforeAll(async () => {
    await made('/api/v1/nodes', { metadata: { name: 'n' } });
    await made(`${apps}/deployments`, deployment);
    for (const name of ['p', 'free', 'evicted']) await made(`${inDefault}/pods`, pod(name));
  });

  it.each(rows)('%s: %s/%s', async (subresource, apiGroup, resource, verb, attack) => {
    const parent = await users.with(rule(apiGroup, resource, '*'));
    const refused = await attack(parent);
    expect([refused.code, refused.body.message]).toEqual([
      403,
      expect.stringContaining(`cannot ${verb} resource "${resource}/${subresource}"`),
    ]);
    const own = await users.with(rule(apiGroup, `${resource}/${subresource}`, verb));
    const allowed = await attack(own);
    expect([allowed.code, allowed.body.message]).toEqual([verb === 'create' ? 201 : 200, undefined]);
  });

  it.each([
    ['deployments', `${apps}/deployments/d`],
    ['pods', `${inDefault}/pods/p`],
    ['namespaces', '/api/v1/namespaces/other'],
  ])('rights on all subresources of %s give none on the object itself', async (resource, path) => {
    const user = await users.with(rule('*', `${resource}/*`, '*'));
    expect((await user.patch(path, { metadata: { labels: { a: 'b' } } })).code).toBe(403);
    expect((await user.get(path)).code).toBe(403);
    expect((await user.delete(path)).code).toBe(403);
  });

  it('deletecollection requires its own verb, and delete requires delete', async () => {
    const path = `${inDefault}/configmaps`;
    const deleter = await users.with(rule('', 'configmaps', 'delete'));
    const collector = await users.with(rule('', 'configmaps', 'deletecollection'));
    expect((await deleter.delete(`${path}?labelSelector=none`)).code).toBe(403);
    expect((await deleter.delete(`${path}?fieldSelector=metadata.name%3Dkube-root-ca.crt`)).code).toBe(403);
    expect((await collector.delete(`${path}/kube-root-ca.crt`)).code).toBe(403);
    expect((await collector.delete(`${path}?labelSelector=none`)).code).toBe(200);
  });
});

describe('metadata changes through a status subresource', () => {
  const labels = { l: 'x' };
  const annotations = { a: 'x' };
  const finalizers = ['a.b/c'];
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'n', uid: 'u' }];
  /** Kinds for which kube-apiserver resets metadata on status updates. */
  const reset = new Set([
    'APIService',
    'FlowSchema',
    'PriorityLevelConfiguration',
    'ResourceClaim',
    'ServiceCIDR',
    'ValidatingAdmissionPolicy',
    'VolumeAttachment',
  ]);
  const kinds = new Map<string, { plural: string; namespaced: boolean; hasStatus: boolean }>();
  const manifests = everyManifest();

  beforeAll(async () => {
    for (const version of new Set(manifests.map(({ apiVersion }) => apiVersion))) {
      const { resources } = (await admin.get(version.includes('/') ? `/apis/${version}` : `/api/${version}`)).body;
      for (const { kind, name, namespaced } of resources) {
        if (name.includes('/')) continue;
        const hasStatus = resources.some((one: { name: string }) => one.name === `${name}/status`);
        kinds.set(`${version} ${kind}`, { plural: name, namespaced, hasStatus });
      }
    }
  });

  it('ownerReferences never change, other metadata only for the kinds that kube-apiserver allows', async () => {
    const user = await users.with(rule('*', '*/status', 'patch'));
    const seen: string[] = [];
    const problems: unknown[] = [];
    for (const { apiVersion, kind, metadata, ...rest } of manifests) {
      const found = kinds.get(`${apiVersion} ${kind}`);
      if (!found?.hasStatus || kind === 'Namespace') continue;
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const list = `${root}/${found.namespaced ? 'namespaces/default/' : ''}${found.plural}`;
      const { namespace: _namespace, ...own } = metadata;
      if (kind === 'Pod') delete (rest['spec'] as Record<string, unknown>)['priorityClassName'];
      const created = await admin.post(list, { apiVersion, kind, metadata: own, ...rest });
      if (![201, 409].includes(created.code)) problems.push([kind, created.body.message]);
      const path = `${list}/${own.name}`;
      const { metadata: before } = (await admin.get(path)).body;
      const change = { metadata: { labels, annotations, finalizers, ownerReferences } };
      const answer = await user.patch(`${path}/status`, change);
      if (answer.code !== 200) problems.push([kind, answer.body.message]);
      const { metadata: after } = (await admin.get(path)).body;
      const taken = [
        ...(after.labels?.['l'] === 'x' ? ['labels'] : []),
        ...(after.annotations?.['a'] === 'x' ? ['annotations'] : []),
        ...(after.finalizers?.includes('a.b/c') ? ['finalizers'] : []),
        ...(JSON.stringify(after.ownerReferences) === JSON.stringify(before.ownerReferences) ? [] : ['owners']),
      ];
      const want = reset.has(kind)
        ? ''
        : kind === 'Deployment'
          ? 'annotations,finalizers'
          : 'labels,annotations,finalizers';
      if (taken.join() !== want) problems.push([kind, taken.join(), want]);
      seen.push(kind);
      if (answer.code === 200) await admin.patch(path, { metadata: { finalizers: before.finalizers ?? null } });
      if (created.code === 201) await admin.delete(path);
    }
    expect(problems).toEqual([]);
    expect(seen).toEqual(expect.arrayContaining(['Pod', 'Node', 'ServiceCIDR', 'Deployment']));
  });
});
