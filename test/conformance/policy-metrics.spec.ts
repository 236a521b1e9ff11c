import { registration } from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const configMaps = '/api/v1/namespaces/default/configmaps?dryRun=All';
const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
};

let server: TestServer;
beforeAll(async () => (server = await startTestServer({ store: 'memory', naming: 'kubernetes' })));
afterAll(() => server.stop());

async function create(plural: string, name: string, spec: object): Promise<void> {
  const { code, text } = await server.admin.post(`${registration}/${plural}`, { metadata: { name }, spec });
  expect([code, code === 201 ? '' : text]).toEqual([201, '']);
}

/** Creates a policy for ConfigMaps with the label `policy` of its name. */
async function validating(name: string, spec: object, validationActions = ['Deny']): Promise<void> {
  await create('validatingadmissionpolicies', name, { matchConstraints: selecting(name), ...spec });
  await create('validatingadmissionpolicybindings', `b-${name}`, { policyName: name, validationActions });
}

async function mutating(name: string, mutations: readonly string[], spec: object = {}): Promise<void> {
  await create('mutatingadmissionpolicies', name, {
    matchConstraints: selecting(name),
    reinvocationPolicy: 'Never',
    mutations: mutations.map((expression) => ({
      patchType: 'ApplyConfiguration',
      applyConfiguration: { expression },
    })),
    ...spec,
  });
  await create('mutatingadmissionpolicybindings', `b-${name}`, { policyName: name });
}

const selecting = (name: string) => ({ ...matchConstraints, objectSelector: { matchLabels: { policy: name } } });
const post = (policy: string) => server.admin.post(configMaps, { metadata: { name: 'x', labels: { policy } } });

/** Waits until all policies that were created before are in force: caches apply changes in order. */
async function settled(): Promise<void> {
  await validating('sentinel', { validations: [{ expression: 'false' }] });
  await mutating('sentinel', ['Object{data: {"seen": "yes"}}']);
  await eventually('the policies are in force', async () => (await post('sentinel')).code === 422);
}

/** Returns the values of the counters of a family whose label names the policy, by their other labels. */
async function counted(family: string, policy: string): Promise<Record<string, number>> {
  const { text } = await server.admin.get('/metrics');
  const found: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const sample = /^([^{]+)\{([^}]*)\} (\S+)$/.exec(line);
    if (sample?.[1] !== family || !sample[2]!.includes(`"${policy}"`)) continue;
    found[sample[2]!.replaceAll('"', '')] = Number(sample[3]);
  }
  return found;
}

it('failed validations and all mutations are counted by policy, binding, error and action', async () => {
  const failing = { expression: 'object.data.none == "1"' };
  await validating('denied', { validations: [{ expression: 'true' }, { expression: 'false' }] });
  await validating('noted', { validations: [{ expression: '1 == 2' }] }, ['Warn', 'Audit']);
  await validating('ignored', { failurePolicy: 'Ignore', validations: [failing] });
  await validating('conditional', {
    matchConditions: [{ name: 'c', expression: "object.metadata.name != 'x'" }],
    validations: [{ expression: 'false' }],
  });
  await validating('broken', {
    matchConditions: [{ name: 'c', expression: "object.data.none == 'x'" }],
    validations: [{ expression: 'true' }],
  });
  await mutating('mutated', ['Object{data: {"a": "1"}}', 'Object{nope: 1}', 'Object{data: {"b": "2"}}'], {
    failurePolicy: 'Ignore',
  });
  await settled();
  for (const [policy, code] of [
    ['denied', 422],
    ['noted', 201],
    ['ignored', 201],
    ['conditional', 201],
    ['broken', 422],
  ] as const) {
    expect([policy, (await post(policy)).code]).toEqual([policy, code]);
  }
  const validations = 'apiserver_validating_admission_policy_check';
  const labels = (policy: string, error: string, action: string) =>
    `policy=${policy},policy_binding=b-${policy},error_type=${error},enforcement_action=${action}`;
  expect(await counted(`${validations}_total`, 'denied')).toEqual({ [labels('denied', 'invalid_error', 'deny')]: 1 });
  expect(await counted(`${validations}_duration_seconds_count`, 'denied')).toEqual({
    [labels('denied', 'invalid_error', 'deny')]: 1,
  });
  expect(await counted(`${validations}_total`, 'noted')).toEqual({
    [labels('noted', 'invalid_error', 'audit')]: 1,
    [labels('noted', 'invalid_error', 'warn')]: 1,
  });
  expect(await counted(`${validations}_total`, 'ignored')).toEqual({
    [labels('ignored', 'invalid_error', 'allow')]: 1,
  });
  expect(await counted(`${validations}_total`, 'conditional')).toEqual({});
  const conditions = 'apiserver_admission_match_condition_evaluation';
  const of = (policy: string) => ({ [`name=${policy},kind=policy,type=validate,operation=CREATE`]: 1 });
  expect(await counted(`${conditions}_seconds_count`, 'conditional')).toEqual(of('conditional'));
  expect(await counted(`${conditions}_errors_total`, 'conditional')).toEqual({});
  expect(await counted(`${conditions}_errors_total`, 'broken')).toEqual(of('broken'));

  // The mutations after one that fails are applied, too.
  expect((await post('mutated')).body.data).toEqual({ a: '1', b: '2' });
  const mutations = 'apiserver_mutating_admission_policy_check';
  const want = {
    'policy=mutated,policy_binding=b-mutated,error_type=no_error': 2,
    'policy=mutated,policy_binding=b-mutated,error_type=invalid_error': 1,
  };
  expect(await counted(`${mutations}_total`, 'mutated')).toEqual(want);
  expect(await counted(`${mutations}_duration_seconds_count`, 'mutated')).toEqual(want);
});
