import type { KubeObject } from '../../src/machinery/kube-object.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson, type KeelsonOptions } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { HttpClient } from '../harness/http-client.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const config = { authorization: { modes: ['Node', 'RBAC'] }, authentication: { anonymous: true } } as const;
const domains: Record<NamingName, string> = { kubernetes: 'k8s.io', svc: 'svc.example' };
const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;

describe.each(['kubernetes', 'svc'] as const)('with the naming profile %s', (naming) => {
  const group = `rbac.authorization.${domains[naming]}`;
  const rbac = `/apis/${group}/v1`;
  const reviews = `/apis/authorization.${domains[naming]}/v1`;
  let server: TestServer;
  let admin: HttpClient;

  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming }, { config });
    admin = server.admin;
  });
  afterAll(() => server.stop());

  const make = async (path: string, object: object) => {
    const answer = await admin.post(path, object);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    return answer.body as KubeObject;
  };
  const namespace = async (name: string) => {
    await make('/api/v1/namespaces', { metadata: { name } });
    return name;
  };
  const bind = (place: string, name: string, role: string, subject: object) => {
    const path = place === '' ? `${rbac}/clusterrolebindings` : `${rbac}/namespaces/${place}/rolebindings`;
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role };
    return make(path, { metadata: { name }, roleRef, subjects: [subject] });
  };
  const acting = (user: string, ...groups: string[]) => {
    const headers = { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) };
    return server.client({ ...server.keelson.client, headers });
  };
  const codes = (client: HttpClient, ...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await client.get(path)).code));

  it.each([
    ['/readyz', 200],
    ['/livez', 200],
    ['/healthz', 200],
    ['/version', 200],
    ['/readyz/ping', 403],
    ['/metrics', 403],
    ['/api', 403],
    ['/openapi/v2', 403],
    [configMaps('default'), 403],
  ])('an anonymous request for %s is answered with %i', async (path, code) =>
    expect((await server.client().get(path)).code).toBe(code),
  );

  it('an authenticated user may use discovery and review his own rights', async () => {
    const someone = acting('someone');
    expect(await codes(someone, '/api', '/apis', '/openapi/v3', '/metrics', configMaps('default'))).toEqual([
      200, 200, 200, 403, 403,
    ]);
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
    const review = await someone.post(`${reviews}/selfsubjectaccessreviews`, { spec: { resourceAttributes } });
    expect([review.code, review.body.status.allowed]).toEqual([201, false]);
  });

  it('a service account with view reads its namespace and no other, and no secrets', async () => {
    const [here, there] = [await namespace('viewed'), await namespace('unseen')];
    await make(`/api/v1/namespaces/${here}/serviceaccounts`, { metadata: { name: 'reader' } });
    const token = await make(`/api/v1/namespaces/${here}/serviceaccounts/reader/token`, {});
    const reader = server.client({ token: (token['status'] as { token: string }).token });
    expect(await codes(reader, configMaps(here))).toEqual([403]);

    await bind(here, 'readers', 'view', { kind: 'ServiceAccount', name: 'reader', namespace: here });
    const secrets = `/api/v1/namespaces/${here}/secrets`;
    expect(await codes(reader, configMaps(here), configMaps(there), '/api/v1/configmaps', secrets)).toEqual([
      200, 403, 403, 403,
    ]);
    expect((await reader.post(configMaps(here), { metadata: { name: 'c' } })).code).toBe(403);

    expect((await admin.delete(`${rbac}/namespaces/${here}/rolebindings/readers`)).code).toBe(200);
    expect(await codes(reader, configMaps(here))).toEqual([403]);
  });

  it('a group has the rights of its bindings in all namespaces', async () => {
    await make(`${rbac}/clusterroles`, {
      metadata: { name: 'one-secret' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['s'] }],
    });
    await make('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    await bind('', 'one-secret', 'one-secret', { kind: 'Group', apiGroup: group, name: 'keepers' });
    const secrets = '/api/v1/namespaces/default/secrets';
    expect(await codes(acting('k', 'keepers'), `${secrets}/s`, `${secrets}/t`, secrets)).toEqual([200, 403, 403]);
    expect(await codes(acting('k', 'others'), `${secrets}/s`)).toEqual([403]);
  });

  it('SelfSubjectRulesReview lists all rules', async () => {
    const here = await namespace('reviewed');
    await bind(here, 'editors', 'edit', { kind: 'User', apiGroup: group, name: 'eve' });
    const rulesIn = async (place: string) =>
      (await acting('eve').post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: place } })).body.status;
    const [inside, outside] = [await rulesIn(here), await rulesIn('default')];
    const edit = (await admin.get(`${rbac}/clusterroles/edit`)).body.rules as object[];
    const everybody = ['system:basic-user'].map(async (name) => (await admin.get(`${rbac}/clusterroles/${name}`)).body);
    const own = (await Promise.all(everybody)).flatMap(({ rules }) => rules as object[]);
    expect(inside.incomplete).toBe(false);
    expect(inside.resourceRules).toHaveLength(edit.length + own.length);
    expect(inside.resourceRules).toEqual(expect.arrayContaining([...edit, ...own]));
    expect(outside.resourceRules).toEqual(own);
    expect(inside.nonResourceRules).toEqual(
      expect.arrayContaining([
        { verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/openapi/*']) },
        { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
      ]),
    );
  });

  it('roles with aggregation labels are added to view, edit and admin, and removed again', async () => {
    const rule = { verbs: ['get', 'list'], apiGroups: ['shop.example.com'], resources: ['orders'] };
    const holds = (role: KubeObject | undefined) =>
      (role!['rules'] as { apiGroups: string[] }[]).some(({ apiGroups }) => apiGroups[0] === 'shop.example.com');
    const roles = `${rbac}/clusterroles`;
    await make(roles, {
      metadata: { name: 'orders', labels: { [`${group}/aggregate-to-view`]: 'true' } },
      rules: [rule],
    });
    for (const name of ['view', 'edit', 'admin']) {
      const role = await until(admin, roles, name, holds);
      expect((role!['rules'] as object[]).filter((it) => holds({ rules: [it] } as never))).toEqual([rule]);
    }
    expect((await admin.delete(`${roles}/orders`)).code).toBe(200);
    for (const name of ['view', 'edit', 'admin']) await until(admin, roles, name, (role) => !holds(role));
  });
});

describe('bootstrap RBAC at a later start', () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate';
  const store = new MemoryStore();
  afterAll(() => store.close());

  /** Runs a server on the same store. */
  async function withServer<T>(use: (admin: HttpClient) => Promise<T>): Promise<T> {
    const keelson = await startKeelson({ store });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    try {
      return await use(admin);
    } finally {
      admin.close();
      await keelson.stop();
    }
  }
  const everything = async (admin: HttpClient) => {
    const lists = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
    const answers = await Promise.all(lists.map((plural) => admin.get(`${rbac}/${plural}`)));
    return answers.flatMap(({ body }) => body.items as KubeObject[]);
  };

  it('writes nothing if everything exists', async () => {
    const first = await withServer(everything);
    expect(first).toHaveLength(133);
    expect(await withServer(everything)).toEqual(first);
  });

  it('restores missing roles, keeps additions, and leaves roles with autoupdate: false alone', async () => {
    const extra = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
    const eve = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' };
    const discovery = `${rbac}/clusterrolebindings/system:discovery`;
    const before = await withServer(async (admin) => {
      const role = (await admin.get(`${rbac}/clusterroles/system:basic-user`)).body as KubeObject & { rules: object[] };
      const ok = async (answer: Promise<{ code: number }>) => expect((await answer).code).toBeLessThan(300);
      await ok(admin.patch(`${rbac}/clusterroles/system:basic-user`, { rules: [extra] }));
      await ok(
        admin.patch(`${rbac}/clusterroles/system:kube-dns`, {
          rules: [],
          metadata: { annotations: { [autoupdate]: 'false' } },
        }),
      );
      await ok(admin.patch(`${rbac}/clusterroles/system:heapster`, { rules: [], metadata: { annotations: null } }));
      await ok(admin.patch(discovery, { subjects: [eve] }));
      await ok(admin.delete(`${rbac}/namespaces/kube-system/roles/system:controller:token-cleaner`));
      const { metadata, ...binding } = (await admin.get(`${rbac}/clusterrolebindings/system:monitoring`)).body;
      await ok(admin.delete(`${rbac}/clusterrolebindings/system:monitoring`));
      const { name, labels, annotations } = metadata;
      const other = { ...binding, roleRef: { ...binding.roleRef, name: 'view' }, subjects: [eve] };
      await ok(admin.post(`${rbac}/clusterrolebindings`, { ...other, metadata: { name, labels, annotations } }));
      return role;
    });
    await withServer(async (admin) => {
      const body = async (path: string) => (await admin.get(`${rbac}/${path}`)).body;
      expect((await body('clusterroles/system:basic-user')).rules).toEqual([extra, ...before.rules]);
      expect((await body('clusterroles/system:kube-dns')).rules).toBeNull();
      expect((await body('clusterroles/system:heapster')).rules).toHaveLength(2);
      const authenticated = { ...eve, kind: 'Group', name: 'system:authenticated' };
      expect((await admin.get(discovery)).body.subjects).toEqual([eve, authenticated]);
      expect((await body('namespaces/kube-system/roles/system:controller:token-cleaner')).rules).toHaveLength(2);
      expect(await body('clusterrolebindings/system:monitoring')).toMatchObject({
        roleRef: { kind: 'ClusterRole', name: 'system:monitoring' },
        subjects: [{ kind: 'Group', name: 'system:monitoring' }],
      });
    });
  });

  it('works with several servers starting at once', async () => {
    const shared = new MemoryStore();
    await startThree({ store: shared });
    await shared.close();
  });

  describeWithEtcd('on etcd', () => {
    it('several servers can start at once', async () => {
      const etcd = await EtcdCluster.start();
      const { servers } = etcd.storeOptions;
      await startThree({ config: { storage: { backend: 'etcd3', etcd: { servers, prefix: '/roles' } } } });
      await etcd.stop();
    });
  });

  async function startThree(options: KeelsonOptions): Promise<void> {
    const servers = await Promise.all([1, 2, 3].map(() => startKeelson(options)));
    for (const { url, ca, client } of servers) {
      const admin = new HttpClient({ url, ca, ...client });
      expect(await everything(admin)).toHaveLength(133);
      admin.close();
    }
    await Promise.all(servers.map((server) => server.stop()));
  }
});
