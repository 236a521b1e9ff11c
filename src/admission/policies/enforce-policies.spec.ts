import { ApiError } from '../../machinery/api-error.js';
import { ManualClock, type Clock } from '../../std/clock.js';
import { Canceller } from '../../std/cancellation.js';
import { attributesOf, hooksOf, type WriteGiven } from '../../../test/harness/admission.js';
import {
  bindingOf,
  bindings,
  enforced,
  enforcedOne,
  policies,
  policyOf,
  servedAs,
  StoredPolicies,
} from '../../../test/harness/policies.js';
import { validatingAdmissionPolicy } from '../plugins/validating-admission-policy.plugin.js';

const denied = (message: string) =>
  `ValidatingAdmissionPolicy 'policy' with binding 'binding' denied request: ${message}`;
const known = { '/namespaces': [{ metadata: { name: 'ns' } }] };
const validations = (...all: object[]) => ({ validations: all });
const expression = (text: string) => validations({ expression: text });
const refusedBy = async (spec: object, given?: WriteGiven) => (await enforcedOne(spec, given)).refused;
const update: WriteGiven = {
  object: { metadata: { name: 'p' }, data: { a: '2' } },
  old: { metadata: { name: 'p' }, data: { a: '1' } },
};

describe('messages of failures', () => {
  it.each<[string, object, string]>([
    ['the message', { message: ' text ' }, 'text'],
    [
      'the result of messageExpression',
      { message: 'other', messageExpression: "'no ' + object.metadata.name" },
      'no p',
    ],
    ['the message, if messageExpression fails', { message: 'text', messageExpression: "'a' + object.none" }, 'text'],
    ['the expression, if messageExpression is empty', { messageExpression: "' '" }, 'failed expression: false'],
    [
      'the expression, if messageExpression has two lines',
      { messageExpression: "'a\\nb'" },
      'failed expression: false',
    ],
    [
      'the expression, if messageExpression is too long',
      { messageExpression: `'${'x'.repeat(5_121)}'` },
      'failed expression: false',
    ],
    ['the expression', {}, 'failed expression: false'],
  ])('are %s', async (_what, fields, want) =>
    expect(await refusedBy(validations({ expression: 'false', ...fields }))).toBe(denied(want)),
  );

  it('the first failure is reported', async () => {
    const spec = validations({ expression: 'true' }, { expression: 'false', message: 'one' }, { expression: '1 == 2' });
    expect(await refusedBy(spec)).toBe(denied('one'));
  });
});

it.each([
  [undefined, 'Invalid', 422],
  ['Forbidden', 'Forbidden', 403],
  ['Unauthorized', 'Unauthorized', 401],
  ['RequestEntityTooLarge', 'RequestEntityTooLarge', 413],
  ['toString', 'Invalid', 422],
])('reason %s is answered as %s (%i)', async (reason, wanted, code) => {
  const stored = new StoredPolicies();
  stored.put(policies, policyOf('policy', validations({ expression: 'false', message: 'm', reason })));
  stored.put(bindings, bindingOf('binding', 'policy'));
  const hooks = hooksOf(validatingAdmissionPolicy, { known, policyObjects: stored });
  const attributes = attributesOf({
    of: 'apps/deployments',
    served: servedAs('apps', 'v1', 'deployments', 'Deployment'),
  });
  const error = await Promise.resolve(hooks.validate!(attributes)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).toStatus()).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `deployments.apps "p" is forbidden: ${denied('m')}`,
    reason: wanted,
    details: { name: 'p', group: 'apps', kind: 'deployments', causes: [{ message: denied('m') }] },
    code,
  });
});

describe('errors', () => {
  const errors = expression('object.none.a == 1');
  it('refuse with failurePolicy Fail', async () =>
    expect(await refusedBy(errors)).toBe(
      denied("expression 'object.none.a == 1' resulted in error: no such key: none"),
    ));
  it('allow with failurePolicy Ignore, but validations that are false refuse', async () => {
    expect(await refusedBy({ ...errors, failurePolicy: 'Ignore' })).toBeUndefined();
    expect(await refusedBy({ failurePolicy: 'Ignore' })).toBe(denied('refused'));
  });
  it('an expression that does not compile is an error', async () =>
    expect(await refusedBy(expression('none'))).toContain('compilation error: compilation failed: ERROR'));
});

describe('validationActions', () => {
  const withActions = (...validationActions: string[]) => enforcedOne({}, {}, { validationActions });
  const warning = "Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'binding': refused";
  const key = 'validation.policy.admission.k8s.io/validation_failure';

  it('Warn adds a warning', async () =>
    expect(await withActions('Warn')).toMatchObject({ refused: undefined, warnings: [warning], audit: {} }));
  it('Audit adds an annotation of the audit log', async () => {
    const { refused, warnings, audit } = await withActions('Audit', 'Warn');
    expect([refused, warnings]).toEqual([undefined, [warning]]);
    expect(JSON.parse(audit[key]!)).toEqual([
      {
        message: 'refused',
        policy: 'policy',
        binding: 'binding',
        expressionIndex: 0,
        validationActions: ['Audit', 'Warn'],
      },
    ]);
  });
  it('one binding may warn where another refuses', async () => {
    const stored = new StoredPolicies();
    stored.put(policies, policyOf('policy'));
    stored.put(bindings, bindingOf('a', 'policy', { validationActions: ['Warn'] }));
    stored.put(bindings, bindingOf('b', 'policy'));
    const { refused, warnings } = await enforced(stored);
    expect(refused).toContain("with binding 'b' denied request");
    expect(warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'a': refused"]);
  });
});

describe('matchConditions', () => {
  const conditions = (...texts: string[]) => ({
    matchConditions: texts.map((text, index) => ({ name: `c${index}`, expression: text })),
  });
  it.each<[string, object, string | undefined]>([
    ['all true', conditions('true', "request.operation == 'CREATE'"), denied('refused')],
    ['one false', conditions('true', 'false'), undefined],
    ['one false beside an error', conditions('object.none.a == 1', 'false'), undefined],
    [
      'an error',
      conditions('object.none.a == 1'),
      denied("expression 'object.none.a == 1' resulted in error: no such key: none"),
    ],
    ['an error that is ignored', { ...conditions('object.none.a == 1'), failurePolicy: 'Ignore' }, undefined],
    ['namespaceObject, which they do not see', conditions('namespaceObject == null'), denied('refused')],
  ])('%s', async (_what, spec, want) => expect(await refusedBy(spec)).toBe(want));
});

it.each([
  ["object.data.a == '2' && oldObject.data.a == '1'", update],
  ['oldObject == null && object.metadata.name == "p"', {}],
  [
    'object == null && oldObject.metadata.name == "p"',
    { operation: 'DELETE', object: undefined, old: { metadata: { name: 'p' } } },
  ],
  ['request.operation == "UPDATE" && request.options.kind == "UpdateOptions"', update],
  ['request.kind.kind + request.resource.version + request.name + request.namespace == "ConfigMapv1pns"', {}],
  ['!has(request.subResource) && !has(request.userInfo.uid) && !has(request.userInfo.extra)', {}],
  ['request.subResource == "x" && request.requestSubResource == "x"', { of: '/configmaps/x' }],
  [
    'request.userInfo.username == "ann" && request.userInfo.extra["a/b"] == ["c"]',
    { user: { extra: { 'a/b': ['c'] } } },
  ],
  ['request.dryRun && request.options.dryRun == ["All"]', { dryRun: true }],
  ['namespaceObject.metadata.labels.team == "a"', {}],
  ['namespaceObject == null && !has(request.namespace)', { clusterWide: true }],
  ['authorizer.group("").resource("pods").name("allowed").check("get").allowed()', {}],
  ['!authorizer.group("").resource("pods").name("other").check("get").allowed()', {}],
  ['authorizer.requestResource.check("get").allowed()', { object: { metadata: { name: 'allowed' } } }],
] as [string, WriteGiven][])('%s holds', async (text, given) =>
  expect(await refusedBy(expression(text), given)).toBeUndefined(),
);

describe('variables', () => {
  const variables = (all: Readonly<Record<string, string>>) => ({
    variables: Object.entries(all).map(([name, text]) => ({ name, expression: text })),
  });
  it('read earlier variables', async () => {
    const spec = { ...variables({ n: '2', twice: 'variables.n * 2' }), ...expression('variables.twice == 4') };
    expect(await refusedBy(spec)).toBeUndefined();
  });
  it('are seen by messages and audit annotations', async () => {
    const spec = {
      ...variables({ n: '2' }),
      ...validations({ expression: 'false', messageExpression: 'string(variables.n)' }),
      auditAnnotations: [{ key: 'n', valueExpression: 'string(variables.n + 1)' }],
    };
    expect(await enforcedOne(spec)).toMatchObject({ refused: denied('2'), audit: { 'policy/n': '3' } });
  });
  it('that are not read are not computed', async () => {
    expect(
      await refusedBy({ ...variables({ bad: 'object.none' }), ...expression('true || variables.bad') }),
    ).toBeUndefined();
  });
  it('pass on their errors', async () => {
    const spec = { ...variables({ a: 'object.none', b: 'variables.a' }), ...expression('variables.b == 1') };
    const because =
      'composited variable "b" fails to evaluate: composited variable "a" fails to evaluate: no such key: none';
    expect(await refusedBy(spec)).toBe(denied(`expression 'variables.b == 1' resulted in error: ${because}`));
  });
});

it('a variable is computed after a pause if the event loop was held while access was decided', async () => {
  const stored = new StoredPolicies();
  const isAllowed = 'authorizer.group("").resource("pods").name("allowed").check("get").allowed()';
  const variables = [{ name: 'isNamed', expression: 'object.metadata.name == "p"' }];
  stored.put(policies, policyOf('policy', { variables, ...expression(`${isAllowed} && variables.isNamed`) }));
  stored.put(bindings, bindingOf('binding', 'policy'));
  const clock = new ManualClock();
  const hooks = hooksOf(validatingAdmissionPolicy, {
    known,
    policyObjects: stored,
    clock,
    permissions: ['get allowed'],
  });
  const served = servedAs('', 'v1', 'configmaps', 'ConfigMap');
  const writeOf = (name: string) =>
    hooks.validate!(attributesOf({ of: '/configmaps', served, object: { metadata: { name } } }));
  // Compiles the policy.
  await writeOf('p');
  for (const [name, refused] of [
    ['p', undefined],
    ['q', `failed expression: ${isAllowed} && variables.isNamed`],
  ] as const) {
    const written = Promise.resolve(writeOf(name)).then(
      () => undefined,
      (error: Error) => error.message,
    );
    clock.advance(20);
    expect(await written).toEqual(refused === undefined ? undefined : expect.stringContaining(refused));
  }
});

describe('params', () => {
  const config = (name: string, max: string, namespace = 'ns', labels = {}) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace, labels },
    data: { max },
  });
  const params = {
    ConfigMap: {
      namespaced: true,
      objects: [
        config('one', '1'),
        config('two', '2', 'ns', { s: 't' }),
        config('three', '3', 'ns', { s: 't' }),
        config('far', '9', 'other'),
      ],
    },
    Node: { namespaced: false, objects: [config('n', '5', '')] },
  };
  const spec = (kind = 'ConfigMap') => ({
    paramKind: { apiVersion: 'v1', kind },
    validations: [
      { expression: 'params != null && params.data.max == "2"', messageExpression: 'string(params.data.max)' },
    ],
  });
  const run = async (paramRef: object | undefined, given: WriteGiven = {}, kind?: string) => {
    const binding = paramRef ? { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } } : {};
    return (await enforcedOne(spec(kind), given, binding, params)).refused;
  };
  const misconfigured = (text: string) => denied(`failed to configure binding: ${text}`);
  const noParams = misconfigured('no params found for policy binding with `Deny` parameterNotFoundAction');

  it.each<[string, object | undefined, string | undefined]>([
    ['by name in the namespace of the request', { name: 'two' }, undefined],
    ['by name in another namespace', { name: 'far', namespace: 'other' }, denied('9')],
    ['by selector, each of them', { selector: { matchLabels: { s: 't' } } }, denied('3')],
    ['that do not exist', { name: 'none' }, noParams],
    ['that are not selected', { selector: { matchLabels: { s: 'u' } } }, noParams],
    ['that may be missing', { name: 'none', parameterNotFoundAction: 'Allow' }, undefined],
    ['without a paramRef are null', undefined, denied('failed expression: params != null && params.data.max == "2"')],
  ])('%s', async (_what, ref, want) => expect(await run(ref)).toBe(want));

  it('cluster-scoped params have no namespace', async () => {
    expect(await run({ name: 'n' }, {}, 'Node')).toBe(denied('5'));
    expect(await run({ name: 'n', namespace: 'ns' }, {}, 'Node')).toBe(
      misconfigured('paramRef.namespace must not be provided for a cluster-scoped `paramKind`'),
    );
  });
  it('namespaced params need a namespace if the request has none', async () =>
    expect(await run({ name: 'two' }, { clusterWide: true })).toBe(
      misconfigured('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources'),
    ));
  it('that are still loading are waited for, also if they may be missing', async () => {
    let resolve = (): void => undefined;
    const loaded = new Promise<void>((resolved) => (resolve = resolved));
    const loading = { ConfigMap: { ...params.ConfigMap, loaded } };
    const paramRef = { name: 'one', parameterNotFoundAction: 'Allow' };
    const written = enforcedOne(spec(), {}, { paramRef }, loading);
    resolve();
    expect((await written).refused).toBe(denied('1'));
  });
  it('a kind that is not served is an error of the policy', async () =>
    expect(await run({ name: 'two' }, {}, 'Nope')).toBe(
      "ValidatingAdmissionPolicy 'policy' denied request: failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=Nope'",
    ));
});

describe('audit annotations', () => {
  const annotated = (valueExpression: string, rest: object = {}) =>
    enforcedOne({ validations: [], auditAnnotations: [{ key: 'k', valueExpression }], ...rest });
  it('have the name of the policy', async () => expect((await annotated("' v '")).audit).toEqual({ 'policy/k': 'v' }));
  it.each(['null', "' '"])('%s adds none', async (text) => expect((await annotated(text)).audit).toEqual({}));
  it('an error refuses the request, whatever the binding does', async () => {
    expect((await annotated('string(object.none)')).refused).toContain('no such key: none');
    expect((await annotated('string(object.none)', { failurePolicy: 'Ignore' })).refused).toBeUndefined();
  });
});

describe('costs', () => {
  const tenTimes = (count: number, inner: string): string =>
    count === 0 ? inner : `[1,2,3,4,5,6,7,8,9,10].all(x${count}, ${tenTimes(count - 1, inner)})`;
  // Costs about 600,000.
  const costly = tenTimes(5, 'true');
  it('an expression that exceeds its limit is an error', async () =>
    expect(await refusedBy(expression(tenTimes(7, 'true')))).toContain('actual cost limit exceeded'));
  it('the expressions of a policy have a limit together', async () => {
    const all = Array.from({ length: 40 }, () => ({ expression: costly }));
    const message = 'validation failed due to running out of cost budget, no further validation rules will be run';
    expect(await refusedBy(validations(...all))).toBe(denied(message));
    expect(await refusedBy({ ...validations(...all), failurePolicy: 'Ignore' })).toBeUndefined();
  });
  it('variables count, however they are nested', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `v${index}`);
    const variables = names.map((name, index) => ({
      name,
      expression: index === 0 ? costly : `variables.v${index - 1} && ${costly}`,
    }));
    expect(await refusedBy({ variables, ...expression('variables.v39') })).toContain('running out of cost budget');
  });
  it('a cancelled request is not evaluated further', async () => {
    const stored = new StoredPolicies();
    stored.put(
      policies,
      policyOf('policy', validations(...Array.from({ length: 20 }, () => ({ expression: costly })))),
    );
    stored.put(bindings, bindingOf('binding', 'policy'));
    const canceller = new Canceller();
    canceller.cancel(new Error('the client closed the connection'));
    const served = servedAs('', 'v1', 'configmaps', 'ConfigMap');
    const attributes = attributesOf({ of: '/configmaps', served });
    const clock = ticking();
    const hooks = hooksOf(validatingAdmissionPolicy, { known, policyObjects: stored, clock });
    const cancelled = { ...attributes, request: { ...attributes.request, signal: canceller } };
    await expect(Promise.resolve(hooks.validate!(cancelled))).rejects.toThrow('the client closed the connection');
  });
});

/** A clock by which every reading takes 20 ms, so that each check of the time finds the event loop held too long. */
function ticking(): Clock {
  let nowMs = 0;
  const read = () => (nowMs += 20);
  const clock: Clock = { now: read, monotonicMs: read, after: () => ({ cancel: () => undefined }) };
  return clock;
}

describe('the set of policies', () => {
  const changing = () => {
    const stored = new StoredPolicies();
    const hooks = hooksOf(validatingAdmissionPolicy, { known, policyObjects: stored });
    const served = servedAs('', 'v1', 'configmaps', 'ConfigMap');
    const write = () => hooks.validate!(attributesOf({ of: '/configmaps', served }));
    return { stored, write };
  };
  it('without a policy, a write has nothing to wait for', () => expect(changing().write()).toBeUndefined());
  it('a write waits until the stored policies are known', async () => {
    const { stored, write } = changing();
    let known = (): void => undefined;
    stored.announceLoad(new Promise((resolve) => (known = resolve)));
    const written = Promise.resolve(write());
    stored.put(policies, policyOf('policy'));
    stored.put(bindings, bindingOf('binding', 'policy'));
    known();
    await expect(written).rejects.toThrow(denied('refused'));
  });
  it('a policy is in force for the next write after its event, until it is deleted', async () => {
    const { stored, write } = changing();
    stored.put(policies, policyOf('policy'));
    await write();
    stored.put(bindings, bindingOf('binding', 'policy'));
    await expect(Promise.resolve(write())).rejects.toThrow(denied('refused'));
    stored.put(policies, policyOf('policy', expression('true'), 2));
    await write();
    stored.put(policies, policyOf('policy', {}, 3));
    await expect(Promise.resolve(write())).rejects.toThrow(denied('refused'));
    stored.delete(bindings, 'binding');
    await write();
    expect(write()).toBeUndefined();
  });
  it('a policy whose rules select another resource or operation costs a write nothing to wait for', async () => {
    const { stored, write } = changing();
    const ruleOf = (operation: string, resource: string) => ({
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['*'], operations: [operation], resources: [resource] }],
      },
    });
    stored.put(policies, policyOf('policy', ruleOf('CREATE', 'pods')));
    stored.put(bindings, bindingOf('binding', 'policy'));
    await write();
    expect(write()).toBeUndefined();
    stored.put(policies, policyOf('policy', ruleOf('UPDATE', 'configmaps'), 2));
    await write();
    expect(write()).toBeUndefined();
    stored.put(policies, policyOf('policy', ruleOf('CREATE', 'configmaps/*'), 3));
    await expect(Promise.resolve(write())).rejects.toThrow(denied('refused'));
  });
});
