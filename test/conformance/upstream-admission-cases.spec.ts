import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../src/catalog/types/admissionregistration.v1.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { ConversionWebhook } from '../harness/conversion-webhook.js';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

// Cases of upstream's end-to-end suite for policies and conversion webhooks, by their titles.

const registration = '/apis/admissionregistration.k8s.io/v1';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  ({ admin } = server);
});
afterAll(() => server.stop());

const workload = (name: string, replicas: number) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
});

const matchConstraints = {
  resourceRules: [
    { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
  ],
};

async function created(path: string, object: object): Promise<KubeObject> {
  const { code, text, body } = await admin.post(path, object);
  if (code !== 201) throw new Error(`${path}: ${text}`);
  return body as KubeObject;
}

/** Creates a policy with a binding of the same name, and deletes both after the case. */
async function inForce(kind: 'validating' | 'mutating', spec: object, run: () => Promise<void>): Promise<void> {
  const policies = `${registration}/${kind}admissionpolicies`;
  const bindings = `${registration}/${kind}admissionpolicybindings`;
  const { name } = (await created(policies, { metadata: { generateName: 'case-' }, spec })).metadata;
  const actions = kind === 'validating' ? { validationActions: ['Deny'] } : {};
  await created(bindings, { metadata: { name }, spec: { policyName: name, ...actions } });
  try {
    await run();
  } finally {
    await admin.delete(`${bindings}/${name}`);
    await admin.delete(`${policies}/${name}`);
  }
}

/** Creates a deployment and deletes it until `isSo` for the answer. */
const untilAnswer = (replicas: number, isSo: (answer: Answer) => boolean) =>
  eventually('the policy is in force', async () => {
    const answer = await admin.post(deployments, workload('marker', replicas));
    await admin.delete(`${deployments}/marker`);
    return isSo(answer);
  });

describe('ValidatingAdmissionPolicy', () => {
  it('should validate against a Deployment', async () => {
    const spec = {
      matchConstraints,
      validations: [
        {
          expression: 'object.spec.replicas > 1',
          messageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
        },
        { expression: "namespaceObject.metadata.name == 'default'", message: 'another namespace' },
      ],
    };
    await inForce('validating', spec, async () => {
      await untilAnswer(1, ({ code, body }) => code === 422 && body.reason === 'Invalid');
      await created(deployments, workload('replicated', 2));
      await created(replicaSets, workload('not-replicated', 1));
    });
  });

  it('should allow expressions to refer variables.', async () => {
    const spec = {
      matchConstraints,
      variables: [
        { name: 'replicas', expression: 'object.spec.replicas' },
        { name: 'oddReplicas', expression: 'variables.replicas % 2 == 1' },
      ],
      validations: [{ expression: 'variables.replicas > 1' }, { expression: 'variables.oddReplicas' }],
    };
    await inForce('validating', spec, async () => {
      await untilAnswer(1, ({ code }) => code === 422);
      expect((await admin.post(deployments, workload('even', 2))).code).toBe(422);
      await created(deployments, workload('odd', 3));
      await created(replicaSets, workload('other-kind', 1));
    });
  });

  const warningsOf = async (spec: object): Promise<readonly Partial<ExpressionWarning>[]> => {
    const policies = `${registration}/validatingadmissionpolicies`;
    const { name } = (await created(policies, { metadata: { generateName: 'types-' }, spec })).metadata;
    const checked = (policy: KubeObject | undefined) => (policy as ValidatingAdmissionPolicy)?.status?.typeChecking;
    const found = await until(admin, policies, name!, (policy) => checked(policy) !== undefined);
    return checked(found)!.expressionWarnings ?? [];
  };

  it('should type check validation expressions', async () => {
    const validations = [{ expression: 'object.spec.replicas > 1' }];
    expect(await warningsOf({ matchConstraints, validations })).toEqual([]);
    const confused = {
      expression: "object.spec.replicas > '1'",
      messageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
    };
    expect(await warningsOf({ matchConstraints, validations: [confused] })).toEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning: expect.stringContaining("found no matching overload for '_>_' applied to '(int, string)'") as string,
      },
      {
        fieldRef: 'spec.validations[0].messageExpression',
        warning: expect.stringContaining("found no matching overload for '_+_' applied to '(string, int)'") as string,
      },
    ]);
  });

  it('should type check a CRD', async () => {
    const group = 'stable.types.example.com';
    const spec = { type: 'object', properties: { replicas: { type: 'integer' }, cronSpec: { type: 'string' } } };
    const schema = { type: 'object', properties: { spec } };
    await created(definitions, customResourceDefinition({ group, plural: 'crontabs', kind: 'CronTab', schema }));
    await eventually('the kind is served', async () => (await admin.get(`/apis/${group}/v1/crontabs`)).code === 200);
    const resourceRules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['crontabs'] }];
    const warnings = (expression: string) =>
      warningsOf({ matchConstraints: { resourceRules }, validations: [{ expression }] });
    expect(await warnings('object.spec.replicas > 1')).toEqual([]);
    expect(await warnings("object.spec.replicas > '1'")).toMatchObject([
      { warning: expect.stringContaining("no matching overload for '_>_' applied to '(int, string)'") as string },
    ]);
    expect(await warnings('object.spec.replicsa > 1')).toMatchObject([
      { warning: expect.stringContaining("undefined field 'replicsa'") as string },
    ]);
  });
});

describe('MutatingAdmissionPolicy', () => {
  const mutationOf = (expression: string) => ({
    matchConstraints,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  });

  it('should mutate a Deployment with annotations', async () => {
    const spec = mutationOf(`Object{metadata: Object.metadata{annotations: {"mutated-by": "admission-policy"}}}`);
    await inForce('mutating', spec, () =>
      untilAnswer(1, ({ body }) => body.metadata?.annotations?.['mutated-by'] === 'admission-policy'),
    );
  });

  it('should mutate a Deployment', async () => {
    await inForce('mutating', mutationOf('Object{spec: Object.spec{replicas: 1337}}'), () =>
      untilAnswer(1, ({ body }) => body.spec?.replicas === 1337),
    );
  });
});

const mutations = [
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{replicas: 100}}' } },
];
const operations: readonly [title: string, plural: string, spec: object, changed: object, hasStatus: boolean][] = [
  [
    'should support ValidatingAdmissionPolicy API operations',
    'validatingadmissionpolicies',
    { matchConstraints, validations: [{ expression: 'object.spec.replicas <= 100' }] },
    { failurePolicy: 'Ignore' },
    true,
  ],
  [
    'should support ValidatingAdmissionPolicyBinding API operations',
    'validatingadmissionpolicybindings',
    { policyName: 'absent', validationActions: ['Deny'] },
    { validationActions: ['Warn'] },
    false,
  ],
  [
    'should support MutatingAdmissionPolicy API operations',
    'mutatingadmissionpolicies',
    { matchConstraints, reinvocationPolicy: 'Never', mutations },
    { reinvocationPolicy: 'IfNeeded' },
    false,
  ],
  [
    'should support MutatingAdmissionPolicyBinding API operations',
    'mutatingadmissionpolicybindings',
    { policyName: 'absent' },
    { policyName: 'another' },
    false,
  ],
];

it.each(operations)('%s', async (...[, plural, spec, changed, hasStatus]) => {
  const path = `${registration}/${plural}`;
  const groups = (await admin.get('/apis')).body.groups as { name: string; versions: { version: string }[] }[];
  const group = groups.find(({ name }) => name === 'admissionregistration.k8s.io');
  expect(group?.versions.map(({ version }) => version)).toContain('v1');
  const resources = (await admin.get(registration)).body.resources as { name: string }[];
  expect(resources.map(({ name }) => name)).toEqual(
    expect.arrayContaining(hasStatus ? [plural, `${plural}/status`] : [plural]),
  );

  const object = { metadata: { generateName: 'operations-', labels: { case: plural } }, spec };
  for (let copy = 0; copy < 2; copy++) await created(path, object);
  const { name, uid, resourceVersion } = (await created(path, object)).metadata;
  const read = await admin.get(`${path}/${name}`);
  expect(read.body.metadata.uid).toBe(uid);
  const selected = `${path}?labelSelector=case%3D${plural}`;
  const list = await admin.get(selected);
  expect(list.body.items).toHaveLength(3);
  const watch = await admin.watch(`${selected}&watch=true&resourceVersion=${list.body.metadata.resourceVersion}`);
  const patched = await admin.patch(`${path}/${name}`, {
    metadata: { annotations: { patched: 'true' } },
    spec: changed,
  });
  expect([patched.code, patched.body.metadata.annotations]).toEqual([200, { patched: 'true' }]);
  expect(patched.body.spec).toMatchObject(changed);
  expect(BigInt(patched.body.metadata.resourceVersion as string)).toBeGreaterThan(BigInt(resourceVersion!));
  // A reconciler writes the status of a policy, so that an update may conflict.
  await eventually('the update is accepted', async () => {
    const { body } = await admin.get(`${path}/${name}`);
    body.metadata.annotations.updated = 'true';
    const { code } = await admin.put(`${path}/${name}`, { ...body, spec: { ...body.spec, ...spec } });
    expect([200, 409]).toContain(code);
    return code === 200;
  });
  if (hasStatus) {
    const status = { conditions: [{ type: 'S', status: 'True', reason: 'R', message: 'M', lastTransitionTime: '2024-01-01T00:00:00Z' }] }; // prettier-ignore
    const written = await admin.patch(`${path}/${name}/status`, { status });
    expect(written.body.status.conditions).toMatchObject([{ type: 'S', status: 'True' }]);
  }
  expect((await admin.delete(`${path}/${name}`)).code).toBe(200);
  expect((await admin.get(`${path}/${name}`)).code).toBe(404);
  expect((await admin.delete(selected)).code).toBe(200);
  expect((await admin.get(selected)).body.items).toEqual([]);
  const types: string[] = [];
  for await (const { type } of watch) {
    types.push(type);
    if (types.filter((one) => one === 'DELETED').length === 3) break;
  }
  watch.close();
  expect(types.slice(0, 2)).toEqual(['MODIFIED', 'MODIFIED']);
});

describe('CustomResourceConversionWebhook', () => {
  const group = 'stable.example.com';
  let webhook: ConversionWebhook;
  beforeAll(async () => void (webhook = await ConversionWebhook.start()));
  afterAll(() => webhook.stop());

  const text = { type: 'string' };
  const versionsOf = (storage: string) => [
    {
      name: 'v1',
      served: true,
      storage: storage === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { hostPort: text } } },
    },
    {
      name: 'v2',
      served: true,
      storage: storage === 'v2',
      schema: { openAPIV3Schema: { type: 'object', properties: { host: text, port: text } } },
    },
  ];

  /** Defines a kind that is stored as v1. v1 has hostPort, v2 host and port. */
  async function define(plural: string, kind: string): Promise<(version: string, name?: string) => string> {
    webhook.convert = ({ hostPort, host, port, ...rest }, version) => {
      const [first, second] = typeof hostPort === 'string' ? hostPort.split(':') : [host, port];
      return version === 'v1' ? { ...rest, hostPort: `${first as string}:${second as string}` } : { ...rest, host: first, port: second }; // prettier-ignore
    };
    const names = { plural, kind };
    const spec = { group, scope: 'Namespaced', names, versions: versionsOf('v1'), conversion: webhook.conversion };
    await created(definitions, { metadata: { name: `${plural}.${group}` }, spec });
    const path = (version: string, name?: string) =>
      `/apis/${group}/${version}/namespaces/default/${plural}${name === undefined ? '' : `/${name}`}`;
    await eventually('the kind is served', async () => (await admin.get(path('v2'))).code === 200);
    return path;
  }

  it('should be able to convert from CR v1 to CR v2', async () => {
    const path = await define('singles', 'Single');
    await created(path('v1'), { apiVersion: `${group}/v1`, kind: 'Single', metadata: { name: 'a' }, hostPort: 'localhost:8080' }); // prettier-ignore
    expect((await admin.get(path('v2', 'a'))).body).toMatchObject({
      apiVersion: `${group}/v2`,
      host: 'localhost',
      port: '8080',
    });
  });

  it('should be able to convert a non homogeneous list of CRs', async () => {
    const path = await define('mixes', 'Mix');
    const mix = (version: string, name: string, fields: object) => ({
      apiVersion: `${group}/${version}`,
      kind: 'Mix',
      metadata: { name },
      ...fields,
    });
    await created(path('v1'), mix('v1', 'a', { hostPort: 'localhost:8080' }));
    await admin.patch(`${definitions}/mixes.${group}`, { spec: { versions: versionsOf('v2') } });
    await eventually('v2 is the storage version', async () => {
      const { body } = await admin.get(`${definitions}/mixes.${group}`);
      return body.status.storedVersions.includes('v2') && (await admin.get(path('v2'))).code === 200;
    });
    await created(path('v2'), mix('v2', 'b', { host: 'localhost', port: '8081' }));
    const { body } = await admin.get(path('v2'));
    expect(body.items).toMatchObject([
      { apiVersion: `${group}/v2`, metadata: { name: 'a' }, host: 'localhost', port: '8080' },
      { apiVersion: `${group}/v2`, metadata: { name: 'b' }, host: 'localhost', port: '8081' },
    ]);
    expect((await admin.get(path('v1'))).body.items).toMatchObject([
      { apiVersion: `${group}/v1`, hostPort: 'localhost:8080' },
      { apiVersion: `${group}/v1`, hostPort: 'localhost:8081' },
    ]);
  });
});
