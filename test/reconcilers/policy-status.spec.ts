import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../src/catalog/types/admissionregistration.v1.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const { admin } = server;
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { size: { type: 'integer' }, 'max-size': { type: 'integer' } } },
        },
      },
    },
  };
  for (const [group, plural, kind] of [
    ['a.example.com', 'widgets', 'Widget'],
    ['b.example.com', 'widgets', 'Widget'],
  ]) {
    const spec = { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] };
    await admin.post(definitions, { metadata: { name: `${plural}.${group}` }, spec });
    await eventually(`${group} is served`, async () => (await admin.get(`/apis/${group}/v1/${plural}`)).code === 200);
  }
});
afterAll(() => server.stop());

/** Waits until the status is that of a generation. */
async function observed(name: string, generation: number): Promise<KubeObject> {
  const isObserved = (policy: ValidatingAdmissionPolicy) => policy.status?.observedGeneration === generation;
  return (await until(server.admin, policies, name, (found) => found !== undefined && isObserved(found)))!;
}

let count = 0;
/** The warnings in the status of a new policy, without the lines that quote the expression. */
async function warningsOf(rule: object, spec: object): Promise<string[]> {
  const name = `p${count++}`;
  const resourceRules = [{ apiVersions: ['v1'], operations: ['CREATE'], ...rule }];
  const policy = { metadata: { name }, spec: { matchConstraints: { resourceRules }, ...spec } };
  expect((await server.admin.post(policies, policy)).code).toBe(201);
  const found: ValidatingAdmissionPolicy = await observed(name, 1);
  const lines = ({ fieldRef = '', warning = '' }: ExpressionWarning) =>
    warning
      .split('\n')
      .filter((line) => line.includes('ERROR'))
      .map((line) => `${fieldRef}: ${line}`);
  return (found.status?.typeChecking?.expressionWarnings ?? []).flatMap(lines);
}
const expression = (text: string, rest: object = {}) => ({ validations: [{ expression: text }], ...rest });
const deployments = { apiGroups: ['apps'], resources: ['deployments'] };
const widgets = { apiGroups: ['a.example.com', 'b.example.com'], resources: ['widgets'] };
const at = 'spec.validations[0].expression';

it.each<[string, object, object, string[]]>([
  ['right types', deployments, expression("object.spec.replicas > 1 && object.metadata.labels['a'] == 'b'"), []],
  [
    'escaped and reserved names',
    deployments,
    expression("object.metadata.namespace == 'a' && object.metadata.__namespace__ == 'a'"),
    [],
  ],
  [
    'times, bytes and free values',
    { apiGroups: [''], resources: ['secrets'] },
    expression("object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z') && object.data['a'] == b'c'"),
    [],
  ],
  [
    'int-or-string values, which may be both',
    { apiGroups: [''], resources: ['services'] },
    expression("object.spec.ports.all(p, p.targetPort == 80 || p.targetPort == 'http')"),
    [],
  ],
  [
    'an unknown field',
    deployments,
    expression('object.spec.nope > 1'),
    [`${at}: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nope'`],
  ],
  [
    'an unknown field of a list',
    deployments,
    expression('object.spec.template.spec.containers.all(c, c.nope)'),
    [`${at}: apps/v1, Kind=Deployment: ERROR: <input>:1:46: undefined field 'nope'`],
  ],
  [
    'custom kinds with one name',
    widgets,
    expression("object.spec.max__dash__size == 'a' && object.metadata.name == 'b'"),
    ['a', 'b'].map(
      (group) =>
        `${at}: ${group}.example.com/v1, Kind=Widget: ERROR: <input>:1:29: found no matching overload for '_==_' applied to '(int, string)'`,
    ),
  ],
  [
    'params',
    deployments,
    expression('params.data.x == 1', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
    [
      `${at}: apps/v1, Kind=Deployment: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'`,
    ],
  ],
  [
    'variables',
    deployments,
    expression("variables.n == 'a'", { variables: [{ name: 'n', expression: 'object.spec.replicas' }] }),
    [
      `${at}: apps/v1, Kind=Deployment: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, string)'`,
    ],
  ],
  ['wildcards, which are not checked', { apiGroups: ['*'], resources: ['*'] }, expression('object.spec.nope > 1'), []],
])('the types of a policy with %s', async (_what, rule, spec, want) =>
  expect(await warningsOf(rule, spec)).toEqual(want),
);

it('a changed policy is checked again', async () => {
  const name = `p${count}`;
  await warningsOf(deployments, expression('object.spec.nope > 1'));
  const changed = { spec: { validations: [{ expression: 'object.spec.replicas > 1' }] } };
  expect((await server.admin.patch(`${policies}/${name}`, changed)).code).toBe(200);
  const found = await observed(name, 2);
  expect(found).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 2, typeChecking: {} } });
});
