import { startTestServer, type TestServer } from '../harness/servers.js';

const group = 'rbac.authorization.k8s.io';
const version = `/apis/${group}/v1`;
const roles = `${version}/namespaces/default/roles`;
const bindings = `${version}/namespaces/default/rolebindings`;
const bob = { 'impersonate-user': 'bob' };
const rule = (verbs: string[], resources: string[], apiGroups = ['']) => ({ apiGroups, resources, verbs });
const subjects = [{ kind: 'User', name: 'bob', apiGroup: group }];
const bind = (name: string, kind: string, role: string) => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: role },
  subjects,
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { authorization: { modes: ['RBAC'] } } },
  );
  const { admin } = server;
  const all = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  await admin.post(roles, {
    metadata: { name: 'role-admin' },
    rules: [rule(all, ['roles', 'rolebindings'], [group]), rule(['get'], ['configmaps'])],
  });
  await admin.post(bindings, bind('bob', 'Role', 'role-admin'));
  await admin.post(roles, { metadata: { name: 'secrets' }, rules: [rule(['get'], ['secrets'])] });
});
afterAll(() => server.stop());

it('a user may grant rights that he has', async () => {
  const { admin } = server;
  expect((await admin.get('/api/v1/namespaces/default/configmaps/none', bob)).code).toBe(404);
  const role = { metadata: { name: 'mine' }, rules: [rule(['get'], ['configmaps'])] };
  expect((await admin.post(roles, role, bob)).code).toBe(201);
  expect((await admin.post(bindings, bind('mine', 'Role', 'mine'), bob)).code).toBe(201);
});

it('a user may not grant more rights (403)', async () => {
  const { admin } = server;
  const more = { metadata: { name: 'more' }, rules: [rule(['get', 'list'], ['secrets'])] };
  const refused = await admin.post(roles, more, bob);
  expect(refused.code).toBe(403);
  expect(refused.body.message).toBe(
    `roles.${group} "more" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC ` +
      'permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
  );
  const bound = await admin.post(bindings, bind('more', 'Role', 'secrets'), bob);
  expect([bound.code, bound.body.details]).toEqual([403, { name: 'more', group, kind: 'rolebindings' }]);
  expect((await admin.post(bindings, bind('none', 'Role', 'none'), bob)).code).toBe(404);
  const widened = { rules: [rule(['get'], ['secrets'])] };
  expect((await admin.patch(`${roles}/role-admin`, widened, 'merge', bob)).code).toBe(403);
});

it('a change of finalizers alone is allowed on a role with rules that the user does not hold, a label is not (403)', async () => {
  const { admin } = server;
  const change = (metadata: object) => admin.patch(`${roles}/secrets`, { metadata }, 'merge', bob);
  expect((await change({ finalizers: ['example.com/f'] })).code).toBe(200);
  expect((await change({ finalizers: null })).code).toBe(200);
  expect((await change({ labels: { a: 'b' } })).code).toBe(403);
});

it('the verbs bind and escalate allow granting more rights', async () => {
  const { admin } = server;
  const rules = [
    { ...rule(['bind'], ['roles'], [group]), resourceNames: ['secrets'] },
    { ...rule(['escalate'], ['roles'], [group]), resourceNames: ['larger'] },
  ];
  await admin.post(roles, { metadata: { name: 'binder' }, rules });
  await admin.post(bindings, bind('binder', 'Role', 'binder'));
  expect((await admin.post(bindings, bind('allowed', 'Role', 'secrets'), bob)).code).toBe(201);
  const larger = { metadata: { name: 'larger' }, rules: [rule(['delete'], ['nodes'])] };
  expect((await admin.post(roles, larger, bob)).code).toBe(201);
});
