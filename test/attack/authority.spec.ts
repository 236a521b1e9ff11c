import type { Answer, HttpClient } from '../harness/http-client.js';
import { everyManifest } from '../harness/manifests.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/**
 * Attempts of users with few rights to gain more, against a whole server with RBAC. Each row is one request that
 * kube-apiserver also refuses.
 */
const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const clusterRoles = `${rbac}/clusterroles`;
const clusterBindings = `${rbac}/clusterrolebindings`;
const roles = `${rbac}/namespaces/default/roles`;
const bindings = `${rbac}/namespaces/default/rolebindings`;
const toView = `${group}/aggregate-to-view`;
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const everyPath = { nonResourceURLs: ['*'], verbs: ['*'] };
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [toView]: 'true' } }] };

let server: TestServer;
let admin: HttpClient;

beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { authorization: { modes: ['RBAC'] }, authentication: { anonymous: true } } },
  );
  ({ admin } = server);
  await grant('eve', 'view');
  await grant('eve', 'role-writer', [
    { apiGroups: [group], resources: ['*'], verbs: ['get', 'create', 'update', 'patch', 'delete'] },
  ]);
  await made(clusterRoles, { metadata: { name: 'strong' }, rules: [everything, everyPath] });
  await made(clusterRoles, { metadata: { name: 'gathers' }, aggregationRule });
  await made(clusterBindings, bound('strong-bound', 'ClusterRole', 'strong'));
  await made(roles, { metadata: { name: 'strong' }, rules: [everything] });
  await made(bindings, bound('strong-bound', 'Role', 'strong'));
});
afterAll(() => server.stop());

const acting = (user: string, ...groups: string[]) =>
  server.client({
    ...server.keelson.client,
    headers: { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) },
  });

async function made(path: string, object: object): Promise<Answer> {
  const answer = await admin.post(path, object);
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  return answer;
}

const subjectOf = (user: string) => ({ apiGroup: group, kind: 'User', name: user });
const bound = (name: string, kind: string, role: string, user = 'nobody') => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: role },
  subjects: [subjectOf(user)],
});

/** Binds a user to a ClusterRole, which is created from the rules if there are any. */
async function grant(user: string, role: string, rules?: readonly object[]): Promise<void> {
  if (rules) await made(clusterRoles, { metadata: { name: role }, rules });
  await made(clusterBindings, bound(`${user}-${role}`, 'ClusterRole', role, user));
}

const apply = 'application/apply-patch+yaml';
const strategic = 'strategic-merge';
const labels = { [toView]: 'true' };
const labelled = { metadata: { labels } };
const pointer = `/metadata/labels`;
const clusterRole = (name: string, more: object) => ({
  apiVersion: `${group}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  ...more,
});

describe('escalation through RBAC objects', () => {
  type Row = readonly [name: string, attack: (eve: HttpClient) => Promise<Answer>];
  const forApply = (path: string, name: string) => `${path}/${name}?fieldManager=eve&force=true`;
  const current = async (path: string, changes: (object: Record<string, unknown>) => object) =>
    changes((await admin.get(path)).body as Record<string, unknown>);

  // prettier-ignore
  const labelRows: readonly Row[] = [
    ['JSON patch', (eve) => eve.patch(`${clusterRoles}/strong`, [{ op: 'add', path: pointer, value: labels }], 'json')],
    ['merge patch', (eve) => eve.patch(`${clusterRoles}/strong`, labelled, 'merge')],
    ['strategic merge patch', (eve) => eve.patch(`${clusterRoles}/strong`, labelled, strategic)],
    ['apply', (eve) => eve.patch(forApply(clusterRoles, 'strong'), clusterRole('strong', { metadata: { name: 'strong', labels } }), apply)],
    ['PUT', async (eve) => eve.put(`${clusterRoles}/strong`, await current(`${clusterRoles}/strong`, (role) => ({ ...role, metadata: { name: 'strong', labels } })))],
    ['a patch that also changes finalizers', (eve) => eve.patch(`${clusterRoles}/strong`, { metadata: { labels, finalizers: ['a.b/c'] } })],
    ['a dry run', (eve) => eve.patch(`${clusterRoles}/strong?dryRun=All`, labelled)],
    ['of cluster-admin itself', (eve) => eve.patch(`${clusterRoles}/cluster-admin`, labelled)],
  ];
  it.each(labelRows)(
    'adding an aggregation label to a strong ClusterRole by %s is forbidden (403)',
    async (_name, attack) => {
      const refused = await attack(acting('eve'));
      expect([refused.code, refused.body.reason]).toEqual([403, 'Forbidden']);
      expect(refused.body.message).toContain(
        'user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
      );
    },
  );

  // prettier-ignore
  const otherRows: readonly Row[] = [
    ['annotating a strong ClusterRole', (eve) => eve.patch(`${clusterRoles}/strong`, { metadata: { annotations: { a: 'b' } } })],
    ['labelling a strong Role', (eve) => eve.patch(`${roles}/strong`, labelled)],
    ['labelling a strong ClusterRoleBinding', (eve) => eve.patch(`${clusterBindings}/strong-bound`, labelled)],
    ['adding oneself to a strong ClusterRoleBinding', (eve) => eve.patch(`${clusterBindings}/strong-bound`, { subjects: [subjectOf('eve')] })],
    ['adding oneself to a strong RoleBinding', (eve) => eve.patch(`${bindings}/strong-bound`, { subjects: [subjectOf('eve')] }, strategic)],
    ['removing a subject from a strong RoleBinding', (eve) => eve.patch(`${bindings}/strong-bound`, { subjects: null })],
    ['changing roleRef', (eve) => eve.patch(`${bindings}/strong-bound`, { roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } })],
    ['creating a strong ClusterRole with an aggregation label', (eve) => eve.post(clusterRoles, { metadata: { name: 'new', labels }, rules: [everything] })],
    ['creating a strong ClusterRole with generateName', (eve) => eve.post(clusterRoles, { metadata: { generateName: 'new-', labels }, rules: [everything] })],
    ['creating a strong ClusterRole by apply', (eve) => eve.patch(forApply(clusterRoles, 'new'), clusterRole('new', { rules: [everything] }), apply)],
    ['creating a strong ClusterRole by PUT', (eve) => eve.put(`${clusterRoles}/new`, clusterRole('new', { rules: [everything] }))],
    ['creating a ClusterRole with an aggregationRule', (eve) => eve.post(clusterRoles, { metadata: { name: 'new' }, aggregationRule })],
    ['removing an aggregationRule', (eve) => eve.patch(`${clusterRoles}/gathers`, { aggregationRule: null, rules: [] })],
    ['labelling a ClusterRole with an aggregationRule', (eve) => eve.patch(`${clusterRoles}/gathers`, { metadata: { labels: { a: 'b' } } })],
    ['changing an aggregationRule', (eve) => eve.patch(`${clusterRoles}/gathers`, { aggregationRule: { clusterRoleSelectors: [{}] } })],
    ['binding cluster-admin', (eve) => eve.post(clusterBindings, bound('new', 'ClusterRole', 'cluster-admin', 'eve'))],
    ['binding cluster-admin in a namespace', (eve) => eve.post(bindings, bound('new', 'ClusterRole', 'cluster-admin', 'eve'))],
    ['binding cluster-admin by apply', (eve) => eve.patch(forApply(bindings, 'new'), { apiVersion: `${group}/v1`, kind: 'RoleBinding', ...bound('new', 'ClusterRole', 'cluster-admin', 'eve') }, apply)],
  ];
  it.each(otherRows)('%s is forbidden (403)', async (_name, attack) => {
    const refused = await attack(acting('eve'));
    expect([refused.code, refused.body.reason]).toEqual([403, 'Forbidden']);
  });

  it('an aggregationRule requires cluster-admin even of a user who holds the aggregated rules (403)', async () => {
    const { rules } = (await admin.get(`${clusterRoles}/view`)).body;
    const refused = await acting('eve').patch(`${clusterRoles}/view`, {
      aggregationRule: null,
      rules: rules.slice(0, 1),
    });
    expect(refused.body.message).toBe(
      `clusterroles.${group} "view" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    );
  });

  it('eve is no administrator after these attempts', async () => {
    const review = { spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } } };
    const answer = await acting('eve').post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
    expect(answer.body.status).toMatchObject({ allowed: false });
  });

  // prettier-ignore
  it.each<Row>([
    ['finalizers of a strong role', (eve) => eve.patch(`${clusterRoles}/strong`, { metadata: { finalizers: ['a.b/c'] } })],
    ['removed finalizers', (eve) => eve.patch(`${clusterRoles}/strong`, { metadata: { finalizers: [] } })],
    ['managedFields of a strong role', (eve) => eve.patch(`${clusterRoles}/strong`, { metadata: { managedFields: [{}] } })],
    ['nothing', (eve) => eve.patch(`${clusterRoles}/strong`, {})],
    ['an aggregated role by an empty patch', (eve) => eve.patch(`${clusterRoles}/gathers`, {})],
    ['a strong role by an identical PUT', async (eve) => eve.put(`${bindings}/strong-bound`, await current(`${bindings}/strong-bound`, ({ metadata: { labels: _, ...metadata }, ...rest }: any) => ({ ...rest, metadata: { ...metadata, labels: {} } })))], // eslint-disable-line @typescript-eslint/no-explicit-any
    ['labels of a role whose rules the user holds', async (eve) => { await eve.post(roles, { metadata: { name: 'weak' }, rules: [] }); return eve.patch(`${roles}/weak`, labelled); }],
    ['ownerReferences of a strong binding', (eve) => eve.patch(`${bindings}/strong-bound`, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] } })],
  ])('a change of %s is allowed', async (_name, change) => {
    const answer = await change(acting('eve'));
    expect([answer.code, answer.body.message]).toEqual([200, undefined]);
  });
});

describe('creating through other verbs without the permission to create', () => {
  const manifests = everyManifest().filter(({ kind }) => kind !== 'Namespace');
  // Its PriorityClass is missing, which mutating admission refuses first.
  for (const { kind, spec } of manifests)
    if (kind === 'Pod') delete (spec as Record<string, unknown>)['priorityClassName'];
  const paths = new Map<string, { plural: string; namespaced: boolean }>();
  const rights = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'update', 'patch', 'bind', 'escalate'] };
  const changer = () => acting('changer');

  beforeAll(async () => {
    await grant('changer', 'changes-everything', [rights, everyPath]);
    for (const namespace of new Set(manifests.map(({ metadata }) => metadata.namespace ?? 'default')))
      await admin.post('/api/v1/namespaces', { metadata: { name: namespace } });
    for (const version of new Set(manifests.map(({ apiVersion }) => apiVersion))) {
      const { resources } = (await admin.get(version.includes('/') ? `/apis/${version}` : `/api/${version}`)).body;
      for (const { kind, name, namespaced } of resources)
        if (!name.includes('/')) paths.set(`${version} ${kind}`, { plural: name, namespaced });
    }
  });

  it.each(manifests.map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
    'apply and PUT of an absent %s are forbidden (403)',
    async (_name, object) => {
      const { apiVersion, kind, metadata } = object;
      const { plural, namespaced } = paths.get(`${apiVersion} ${kind}`)!;
      const { namespace = 'default' } = metadata;
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const path = `${root}/${namespaced ? `namespaces/${namespace}/` : ''}${plural}/${metadata.name}`;
      const applied = await changer().patch(`${path}?fieldManager=m&force=true`, object, apply);
      const resource = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
      expect([applied.code, applied.body.message]).toEqual([
        403,
        `${plural}${resource && '.'}${resource} "${metadata.name}" is forbidden: User "changer" cannot create resource "${plural}" in API group "${resource}" ${namespaced ? `in the namespace "${namespace}"` : 'at the cluster scope'}`,
      ]);
      expect([403, 404, 405]).toContain((await changer().put(path, object)).code);
      expect((await admin.get(path)).code).toBe(404);
    },
  );

  it('apply of an existing object requires only patch', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await made(path, { metadata: { name: 'there' } });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'there' }, data: { a: 'b' } };
    expect((await changer().patch(`${path}/there?fieldManager=m`, object, apply)).code).toBe(200);
    const dry = await changer().patch(
      `${path}/missing?fieldManager=m&dryRun=All`,
      { ...object, metadata: { name: 'missing' } },
      apply,
    );
    expect(dry.code).toBe(403);
  });
});

describe('ResourceClaims', () => {
  const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
  const templates = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates';
  const request = (more: object = {}) => ({ name: 'r', exactly: { deviceClassName: 'c', ...more } });
  const spec = (more?: object) => ({ devices: { requests: [request(more)] } });
  const result = (more: object = {}) => ({ request: 'r', driver: 'd.example.com', pool: 'p', device: 'x', ...more });
  const nodeSelector = {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
  };
  const allocation = (more?: object) => ({ devices: { results: [result(more)] }, nodeSelector });
  const device = (more: object = {}) => ({ driver: 'd.example.com', pool: 'p', device: 'x', ...more });
  const label = 'resource.kubernetes.io/admin-access';
  const driver = 'system:serviceaccount:default:driver';
  const onNode = (node: string) =>
    server.client({
      ...server.keelson.client,
      headers: {
        'impersonate-user': driver,
        'impersonate-extra-authentication.kubernetes.io%2Fnode-name': node,
      },
    });
  const rule = (verbs: string[], resources: string[]) => ({ apiGroups: ['resource.k8s.io'], resources, verbs });
  const statusWriter = rule(['update', 'patch'], ['resourceclaims/status']);
  const claim = async (name: string, status?: object) => {
    await made(claims, { metadata: { name }, spec: spec() });
    if (status) expect((await admin.patch(`${claims}/${name}/status`, { status })).code).toBe(200);
    return `${claims}/${name}/status`;
  };

  beforeAll(async () => {
    await grant('claimant', 'edit');
    await grant('teller', 'claim-status', [statusWriter]);
    await grant('binder', 'claim-binding', [statusWriter, rule(['update'], ['resourceclaims/binding'])]);
    await grant(driver, 'claim-driver', [
      statusWriter,
      { ...rule(['associated-node:patch'], ['resourceclaims/driver']), resourceNames: ['d.example.com'] },
    ]);
    await grant('roamer', 'claim-roaming', [statusWriter, rule(['arbitrary-node:patch'], ['resourceclaims/driver'])]);
  });

  it.each([
    ['claim', claims, { metadata: { name: 'a' }, spec: spec({ adminAccess: true }) }],
    ['template', templates, { metadata: { name: 'a' }, spec: { spec: spec({ adminAccess: true }) } }],
  ])('a %s with admin access requires the label of the namespace', async (_name, path, object) => {
    const refused = await acting('claimant').post(path, object);
    expect([refused.code, refused.body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueForbidden',
          field: 'spec.devices.requests[0].adminAccess',
          message: `Forbidden: admin access to devices requires the \`${label}: true\` label on the containing namespace`,
        },
      ],
    ]);
    const labelNamespace = (value: string | null) =>
      admin.patch('/api/v1/namespaces/default', { metadata: { labels: { [label]: value } } });
    await labelNamespace('true');
    expect((await acting('claimant').post(path, object)).code).toBe(201);
    await labelNamespace(null);
  });

  it('an allocation with admin access is forbidden without the label (403)', async () => {
    const status = { allocation: allocation({ adminAccess: true }) };
    const refused = await admin.patch(await claim('admin-status'), { status });
    expect([refused.code, refused.body.message]).toEqual([422, expect.stringContaining('results[0].adminAccess')]);
  });

  it('an allocation requires the verb of the request on resourceclaims/binding (403)', async () => {
    const path = await claim('binding');
    const status = { allocation: allocation() };
    const refused = await acting('teller').patch(path, { status });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      'ResourceClaim.resource.k8s.io "binding" is invalid: status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "teller" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
    ]);
    expect((await acting('binder').patch(path, { status })).code).toBe(422);
    const whole = { ...(await admin.get(`${claims}/binding`)).body, status };
    expect((await acting('binder').put(path, whole)).code).toBe(200);
    const reserved = { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] };
    expect((await acting('teller').patch(path, { status: reserved })).code).toBe(422);
    expect((await acting('teller').patch(path, { status: { allocation: allocation() } })).code).toBe(200);
  });

  it('a device status requires the right on resourceclaims/driver for its node and driver (403)', async () => {
    const path = await claim('driver', { allocation: allocation() });
    const status = { devices: [device()] };
    const refused = await acting('teller').patch(path, { status });
    expect(refused.body.message).toContain(
      'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "d.example.com" is forbidden: User "teller" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"',
    );
    const elsewhere = await onNode('n2').patch(path, { status });
    expect(elsewhere.body.message).toContain('verb="[arbitrary-node:patch]"');
    expect((await acting(driver).patch(path, { status })).code).toBe(422);
    expect((await onNode('n1').patch(path, { status })).code).toBe(200);
    const removed = await acting('teller').patch(path, { status: { devices: null } });
    expect(removed.body.message).toContain('verb="[arbitrary-node:patch]"');
    expect((await acting('roamer').patch(path, { status: { devices: null } })).code).toBe(200);
  });
});
