import type { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';
import { rule, startRbacServer } from '../harness/rbac-users.js';

type Started = Awaited<ReturnType<typeof startRbacServer>>;

const explained = { 'keelson-explain': 'admission' };
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});

interface Step {
  readonly plugin: string;
  readonly step: string;
  readonly outcome: string;
  readonly message?: string;
  readonly changes?: readonly { readonly path: string }[];
  readonly milliseconds: number;
}

let server: Started['server'];
let admin: HttpClient;
let users: Started['users'];
beforeAll(async () => {
  ({ server, admin, users } = await startRbacServer());
  await until(admin, '/api/v1/namespaces/default/serviceaccounts', 'default', (account) => account !== undefined);
});
afterAll(() => server.stop());

it('an explained create lists each step with its changes, and the object as it is stored', async () => {
  const answer = await admin.post(`${pods}?dryRun=All`, pod('a'), explained);
  expect([answer.code, answer.body.kind, answer.body.code]).toEqual([201, 'AdmissionExplanation', 201]);
  expect(answer.body.answer).toMatchObject({ kind: 'Pod', metadata: { name: 'a' } });
  const steps = answer.body.steps as Step[];
  const admitted = steps.filter(({ step }) => step === 'admit').map(({ plugin }) => plugin);
  expect(admitted.slice(0, 3)).toEqual(['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount']);
  const account = steps.find(({ plugin, step }) => plugin === 'ServiceAccount' && step === 'admit')!;
  expect(account.outcome).toBe('changed');
  expect(account.changes!.map(({ path }) => path)).toContain('/spec/serviceAccountName');
  expect(steps.every(({ milliseconds }) => milliseconds >= 0)).toBe(true);
  expect(steps.map(({ step }) => step).lastIndexOf('admit')).toBeLessThan(
    steps.findIndex(({ step }) => step === 'validate'),
  );
});

it('an explained create that is refused names the plug-in that refused it', async () => {
  const answer = await admin.post(pods, pod('a', { serviceAccountName: 'absent' }), explained);
  expect([answer.code, answer.body.code, answer.body.answer.kind]).toEqual([403, 403, 'Status']);
  expect((answer.body.steps as Step[]).at(-1)).toMatchObject({
    plugin: 'ServiceAccount',
    outcome: 'refused',
    message: answer.body.answer.message,
  });
});

it('an explained write is made as usual', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const codes = [
    await admin.post(path, { metadata: { name: 'a' } }, explained),
    await admin.patch(`${path}/a`, { data: { a: 'b' } }, 'merge', explained),
    await admin.put(`${path}/a`, { metadata: { name: 'a' }, data: { a: 'c' } }, explained),
  ].map(({ body }) => [body.code, body.answer.data]);
  expect(codes).toEqual([[201, undefined], [200, { a: 'b' }], [200, { a: 'c' }]]); // prettier-ignore
  expect((await admin.get(`${path}/a`)).body.data).toEqual({ a: 'c' });
  const deleted = await admin.delete(`${path}/a`, undefined, explained);
  expect([deleted.body.code, deleted.body.answer.kind, deleted.body.steps.length > 0]).toEqual([200, 'Status', true]);
  expect((await admin.get(`${path}/a`)).code).toBe(404);
});

it('an administrator sees what admission does with the request of another user', async () => {
  const user = await users.with(rule('', 'configmaps', 'create'));
  const answer = await user.post(
    '/api/v1/namespaces/default/configmaps?dryRun=All',
    { metadata: { name: 'b' } },
    explained,
  );
  expect([answer.code, answer.body.kind]).toEqual([201, 'AdmissionExplanation']);
});

it('users who may not get /debug/admission are refused (403)', async () => {
  const created = await admin.post('/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
  const { token } = created.body.status;
  const account = server.client({ token });
  await users.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'writers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  });
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
  const refused = await account.post(path, { metadata: { name: 'c' } }, explained);
  expect([refused.code, refused.body.message]).toEqual([
    403,
    'forbidden: User "system:serviceaccount:default:default" cannot get path "/debug/admission"',
  ]);
  expect((await account.post(path, { metadata: { name: 'c' } })).code).toBe(201);
});

it.each([
  ['another value', 'POST', { 'keelson-explain': 'all' }],
  ['a list', 'GET', explained],
  ['a deletion of all objects', 'DELETE', explained],
])('a request for an explanation of %s is rejected (400)', async (...[, method, headers]) => {
  const answer = await admin.request(method, '/api/v1/namespaces/default/configmaps', {
    headers,
    ...(method === 'POST' && { body: { metadata: { name: 'd' } } }),
  });
  expect([answer.code, answer.body.message]).toEqual([400, expect.stringContaining('Keelson-Explain')]);
});
