import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import type { RbacUsers } from '../harness/rbac-users.js';
import { rule, startRbacServer } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

// A controller applies the same configuration again and again. Each time it is seen by what has come since.

const registration = '/apis/admissionregistration.k8s.io/v1';
const apply = 'application/apply-patch+yaml';
const plain = { apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] } }; // prettier-ignore
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector: { matchLabels: { app: 'a' } }, template } }; // prettier-ignore

let server: TestServer;
let admin: HttpClient;
let users: RbacUsers;
beforeAll(async () => {
  const started = await startRbacServer();
  ({ server, admin } = started);
  users = started.users;
});
afterAll(() => server.stop());

let namespace = '';
let count = 0;
beforeEach(async () => {
  namespace = `ns${++count}`;
  await admin.post('/api/v1/namespaces', { metadata: { name: namespace } });
});

const at = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
const deployments = () => `/apis/apps/v1/namespaces/${namespace}/deployments`;
const send = (path: string, object: object, client = admin): Promise<Answer> =>
  client.patch(`${path}/a?fieldManager=one`, { ...object, metadata: { name: 'a' } }, apply);

/** Returns how to apply the configuration once more, after it was applied until it was known to change nothing. */
async function repeated(path: string, object: object): Promise<(client?: HttpClient) => Promise<Answer>> {
  for (const code of [201, 200, 200, 200]) expect((await send(path, object)).code).toBe(code);
  return (client) => send(path, object, client);
}

const selected = () => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }],
});

it('a new ValidatingAdmissionPolicy refuses it', async () => {
  const again = await repeated(at('configmaps'), plain);
  const spec = { matchConstraints: selected(), validations: [{ expression: "object.data.x != '1'", message: 'no ones' }] }; // prettier-ignore
  await admin.post(`${registration}/validatingadmissionpolicies`, { metadata: { name: namespace }, spec });
  const bound = { policyName: namespace, validationActions: ['Deny'] };
  await admin.post(`${registration}/validatingadmissionpolicybindings`, { metadata: { name: namespace }, spec: bound });
  await eventually('the policy is in force', async () => (await again()).code === 422);
  expect((await again()).body.message).toContain('no ones');
  await admin.delete(`${registration}/validatingadmissionpolicybindings/${namespace}`);
  await eventually('the policy is gone', async () => (await again()).code === 200);
});

it('a new MutatingAdmissionPolicy changes the object', async () => {
  const again = await repeated(at('configmaps'), plain);
  const expression = "Object{metadata: Object.metadata{labels: {'added': 'yes'}}}";
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }];
  const spec = { matchConstraints: selected(), mutations, reinvocationPolicy: 'Never' };
  expect(await admin.post(`${registration}/mutatingadmissionpolicies`, { metadata: { name: namespace }, spec })).toMatchObject({ code: 201 }); // prettier-ignore
  await admin.post(`${registration}/mutatingadmissionpolicybindings`, { metadata: { name: namespace }, spec: { policyName: namespace } }); // prettier-ignore
  await eventually('the policy is in force', async () => (await again()).body.metadata.labels?.added === 'yes');
  await admin.delete(`${registration}/mutatingadmissionpolicybindings/${namespace}`);
});

it.each(['mutating', 'validating'])('a new %s webhook is called', async (type) => {
  const again = await repeated(at('configmaps'), plain);
  const { resourceRules: rules, namespaceSelector } = selected();
  const clientConfig = { url: 'https://127.0.0.1:1/nobody' };
  const webhook = { name: 'w.example.com', clientConfig, rules, namespaceSelector, sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Fail' }; // prettier-ignore
  const configurations = `${registration}/${type}webhookconfigurations`;
  expect(await admin.post(configurations, { metadata: { name: namespace }, webhooks: [webhook] })).toMatchObject({ code: 201 }); // prettier-ignore
  await eventually('the webhook is called', async () => (await again()).code === 500);
  expect((await again()).body.message).toContain('failed calling webhook "w.example.com"');
  await admin.delete(`${configurations}/${namespace}`);
  await eventually('the webhook is gone', async () => (await again()).code === 200);
});

it('labels of the namespace that restrict its Pods lead to a warning, which is repeated', async () => {
  const again = await repeated(deployments(), deployment);
  const labels = { 'pod-security.kubernetes.io/warn': 'baseline' };
  await admin.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } });
  await eventually('the label is known', async () => (await again()).warnings.length > 0);
  for (const _time of [1, 2, 3]) expect((await again()).warnings).toEqual([expect.stringContaining('privileged')]);
});

it('a user who may not patch the object is refused, and one who may is not', async () => {
  const again = await repeated(at('configmaps'), plain);
  const reader = await users.with(rule('', 'configmaps', 'get', 'create', 'update'));
  const patcher = await users.with(rule('', 'configmaps', 'patch'));
  expect([(await again(reader)).code, (await again(patcher)).code]).toEqual([403, 200]);
});

it('each is counted for each admission plug-in', async () => {
  const again = await repeated(at('configmaps'), plain);
  const counts = async () => {
    const { text } = await admin.get('/metrics');
    const updates = text
      .split('\n')
      .filter((line) => line.includes('operation="UPDATE"') && line.includes('rejected="false"'));
    const countOf = (...parts: string[]) =>
      Number(updates.find((line) => parts.every((part) => line.includes(part)))?.split(' ')[1]);
    return [
      countOf('controller_admission_duration_seconds_count', 'NamespaceLifecycle'),
      countOf('controller_admission_duration_seconds_count', 'ResourceQuota'),
      countOf('step_admission_duration_seconds_count', 'type="admit"'),
      countOf('step_admission_duration_seconds_count', 'type="validate"'),
    ];
  };
  const before = await counts();
  for (let time = 0; time < 7; time++) await again();
  const after = await counts();
  expect(after.map((value, index) => value - before[index]!)).toEqual([7, 7, 7, 7]);
});
