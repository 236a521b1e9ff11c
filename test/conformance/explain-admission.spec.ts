import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';
import { eventually } from '../harness/eventually.js';
import { printedBy } from '../harness/printed-command.js';
import { rule, startRbacServer } from '../harness/rbac-users.js';

type Started = Awaited<ReturnType<typeof startRbacServer>>;

const explained = { 'keelson-explain': 'admission' };
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});

const base64 = (text = '') => Buffer.from(text).toString('base64');

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

it('an explained create lists the policies that applied, what they changed, and why others did not', async () => {
  const registration = '/apis/admissionregistration.k8s.io/v1';
  const rules = (resource: string) => ({
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] }],
  });
  const put = async (kind: 'validating' | 'mutating', name: string, spec: object, binding: object = {}) => {
    await users.create(`${registration}/${kind}admissionpolicies`, { metadata: { name }, spec });
    const actions = kind === 'validating' ? { validationActions: ['Warn'] } : {};
    const bound = { policyName: name, ...actions, ...binding };
    await users.create(`${registration}/${kind}admissionpolicybindings`, { metadata: { name }, spec: bound });
  };
  const mutation = {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"by": "policy"}}}' },
  };
  const mutating = { reinvocationPolicy: 'Never', mutations: [mutation] };
  const no = { name: 'never', expression: 'false' };
  await put('mutating', 'label', { matchConstraints: rules('configmaps'), ...mutating });
  await put('mutating', 'never', { matchConstraints: rules('configmaps'), matchConditions: [no], ...mutating });
  const validations = [{ expression: 'false', message: 'nothing is good enough' }];
  await put('validating', 'all', { matchConstraints: rules('configmaps'), validations });
  await put('validating', 'condition', { matchConstraints: rules('configmaps'), matchConditions: [no], validations });
  await put('validating', 'other', { matchConstraints: rules('secrets'), validations });
  const namespaceSelector = { matchLabels: { absent: 'yes' } };
  const matchResources = { namespaceSelector };
  await put('validating', 'namespace', { matchConstraints: rules('configmaps'), validations }, { matchResources });
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
  const partsOf = (body: { steps: { plugin: string; parts?: Record<string, unknown>[] }[] }, plugin: string) =>
    (body.steps.find((step) => step.plugin === plugin && step.parts)?.parts ?? []).map(({ milliseconds: _ms, ...part }) => part); // prettier-ignore
  let body: Parameters<typeof partsOf>[0] | undefined;
  await eventually('the policies are in force', async () => {
    ({ body } = await admin.post(path, { metadata: { name: 'p' } }, explained));
    return (
      partsOf(body!, 'ValidatingAdmissionPolicy').length === 4 && partsOf(body!, 'MutatingAdmissionPolicy').length === 2
    );
  });
  const [validating, changing] = ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'];
  expect(partsOf(body!, changing)).toEqual([
    {
      kind: changing,
      name: 'label',
      member: 'label',
      outcome: 'changed',
      changes: [{ op: 'add', path: '/metadata/labels', value: { by: 'policy' } }],
    },
    { kind: changing, name: 'never', member: 'never', skipped: 'a match condition is false' },
  ]);
  expect(partsOf(body!, validating).sort((a, b) => String(a['name']).localeCompare(String(b['name'])))).toEqual([
    { kind: validating, name: 'all', member: 'all', message: 'Warn: nothing is good enough' },
    { kind: validating, name: 'condition', member: 'condition', skipped: 'a match condition is false' },
    {
      kind: validating,
      name: 'namespace',
      member: 'namespace',
      skipped: 'namespaceSelector does not select the namespace',
    },
    { kind: validating, name: 'other', skipped: 'rules or objectSelector do not select the request' },
  ]);
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

describe('keelson explain-admission', () => {
  let directory: string;
  let kubeconfig: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-explain-'));
    kubeconfig = join(directory, 'kubeconfig');
    const { client, ca, url } = server.keelson;
    const user = { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) };
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
      users: [{ name: 'c', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function explain(content: string, ...words: string[]) {
    const file = join(directory, 'objects.yaml');
    await writeFile(file, content);
    const { code, out, err } = await printedBy(['explain-admission', '--kubeconfig', kubeconfig, '-f', file, ...words]);
    return { code, err, lines: out.split('\n') };
  }

  const podText = (name: string, more = '') => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  containers: [{ name: c, image: i }]
  ${more}
`;

  it('prints the steps for each object of a file, and stores none', async () => {
    const { code, lines } = await explain(
      `# two Pods\n---${podText('x')}---${podText('second', 'serviceAccountName: absent')}`,
    );
    expect(code).toBe(1);
    expect(lines[0]).toBe('admitted: create pods "x" in the namespace "default"');
    expect(lines.some((line) => /^admit +ServiceAccount +changed +\d+\.\d\d$/.test(line))).toBe(true);
    expect(lines).toContain('  add /spec/serviceAccountName "default"');
    const refused = lines.indexOf('refused (403): create pods "second" in the namespace "default"');
    expect(lines[refused + 1]).toBe('message: pods "second" is forbidden: error looking up service account default/absent: serviceaccount "absent" not found'); // prettier-ignore
    expect((await admin.get(`${pods}/x`)).code).toBe(404);
  });

  it('updates an object that exists, and deletes one on demand', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await admin.post(path, { metadata: { name: 'kept' } });
    const text = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "b"}}';
    const updated = await explain(text);
    expect([updated.code, updated.lines[0]]).toEqual([
      0,
      'admitted: update configmaps "kept" in the namespace "default"',
    ]);
    const deleted = await explain(text, '--operation', 'delete');
    expect([deleted.code, deleted.lines[0]]).toEqual([
      0,
      'admitted: delete configmaps "kept" in the namespace "default"',
    ]);
    expect((await admin.get(`${path}/kept`)).body.data).toBeUndefined();
  });

  it('prints the whole explanation as JSON', async () => {
    const { lines } = await explain(podText('x'), '-o', 'json');
    expect(JSON.parse(lines[0]!)).toMatchObject({ kind: 'AdmissionExplanation', code: 201, answer: { kind: 'Pod' } });
  });

  it('sends the request as another user', async () => {
    await users.with(rule('', 'pods', 'get'));
    const { code, err } = await explain(podText('x'), '--as', users.latest, '--as-group', 'a', '--as-group', 'b');
    expect([code, err]).toEqual([2, expect.stringContaining(`User "${users.latest}" cannot create resource "pods"`)]);
  });

  it.each([
    ['a file without objects', '# nothing', /objects\.yaml has no objects$/],
    ['a document without kind', 'apiVersion: v1', /document 1: give apiVersion and kind$/],
    ['a document that is not YAML', podText('x') + '---\n{', /document 2: /],
    ['a kind that the server does not have', 'apiVersion: v1\nkind: Bogus', /the server has no kind Bogus in v1$/],
  ])('%s is an error (exit code 2)', async (...[, content, message]) => {
    const { code, err } = await explain(content);
    expect([code, err.trim()]).toEqual([2, expect.stringMatching(message)]);
  });
});
