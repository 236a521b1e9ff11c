import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { admissionregistrationResources, mutatingPolicies } from './admissionregistration.resources.js';
import { mutatingBindingStrategy, validatingBindingStrategy } from './policy-binding.strategy.js';
import { mutatingPolicyStrategy, validatingPolicyStrategy } from './policy.strategy.js';
import { bindingTable, validatingPolicyTable } from './policy.table.js';

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const matchConstraints = { resourceRules: [rule] };
const object = (kind: string, spec: object): KubeObject => ({
  kind,
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name: 'p' },
  spec,
});
const validating = (spec: object) =>
  object('ValidatingAdmissionPolicy', { matchConstraints, validations: [{ expression: 'true' }], ...spec });
const containing = (texts: readonly string[]) => texts.map((text) => expect.stringContaining(text) as string);

it('defaults of policies and bindings', () =>
  expect(prepared(validatingPolicyStrategy, validating({ status: 'old' }))).toMatchObject({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule, scope: '*' }],
      },
    },
    status: {},
  }));

const variable = (name: string, expression: string) => ({ name, expression });
const one = (validation: object) => ({ validations: [{ expression: 'true', ...validation }] });
it.each<[string, object, string[]]>([
  ['the required fields', {}, []],
  [
    'no validation and no audit annotation',
    { validations: [] },
    ['spec.validations: Required', 'spec.auditAnnotations: Required'],
  ],
  ['audit annotations only', { validations: [], auditAnnotations: [{ key: 'k', valueExpression: "'v'" }] }, []],
  ['no matchConstraints', { matchConstraints: undefined }, ['spec.matchConstraints: Required value']],
  ['no resourceRules', { matchConstraints: {} }, ['matchConstraints.resourceRules: Required value']],
  [
    'one resource name twice',
    { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a'] }] } },
    ['resourceNames[1]: Dup'],
  ],
  ['no expression', one({ expression: ' ' }), ['expression is not specified']],
  ['an unknown reason', one({ reason: 'X' }), ['validations[0].reason: Unsupported value: "X"']],
  ['a message of two lines', one({ message: 'a\nb' }), ['must not contain line breaks']],
  ['an expression of two lines without a message', one({ expression: 'true\n&& true' }), []],
  ['an empty message', one({ message: ' ' }), ['message: Invalid value: " ": must be non-empty if specified']],
  ['an empty messageExpression', one({ messageExpression: ' ' }), ['" ": must be non-empty if specified']],
  [
    'an expression with a syntax error',
    one({ expression: 'object.' }),
    ['compilation failed: ERROR: <input>:1:8: Syn'],
  ],
  [
    'an expression that is no bool',
    one({ expression: '1' }),
    ['expression: Invalid value: "1": must evaluate to bool'],
  ],
  ['params without a paramKind', one({ expression: 'params.a' }), ["undeclared reference to 'params'"]],
  ['params', { ...one({ expression: 'params.a == 1' }), paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, []],
  ['a check of the authorizer', one({ expression: "authorizer.path('/a').check('get').allowed()" }), []],
  ['the authorizer in a message', one({ messageExpression: 'authorizer' }), ["undeclared reference to 'authorizer'"]],
  ['variables without declarations', one({ expression: 'variables.a' }), ["undeclared reference to 'variables'"]],
  [
    'a variable that an earlier one uses',
    { variables: [variable('a', 'variables.b'), variable('b', '1')] },
    [
      'variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field \'b\'',
    ],
  ],
  [
    'variables that use earlier ones with their types',
    {
      variables: [variable('a', '[1]'), variable('b', 'variables.a[0]')],
      ...one({ expression: "variables.b == 'x'" }),
    },
    ["applied to '(int, string)'"],
  ],
  [
    'a variable in a matchCondition',
    { variables: [variable('a', 'true')], matchConditions: [{ name: 'c', expression: 'variables.a' }] },
    ['matchConditions[0].expression: Invalid value: "variables.a": compilation failed'],
  ],
  [
    'a number as the value of an audit annotation',
    { auditAnnotations: [{ key: 'a', valueExpression: ' 1' }] },
    ['valueExpression: Invalid value: " 1": must evaluate to one of [string null_type] but got int'],
  ],
  [
    'a long value of an audit annotation',
    { auditAnnotations: [{ key: 'a', valueExpression: `'${'x'.repeat(5_200)}'` }] },
    ['valueExpression: Required value: must not exceed 5120 bytes in length'],
  ],
  ['an invalid variable name', { variables: [{ name: 'a b', expression: '1' }] }, ['must be a valid CEL identifier']],
  [
    'a reserved word as variable name',
    { variables: [{ name: 'true', expression: '1' }] },
    ['must be a valid CEL identifier'],
  ],
  ['a paramKind without apiVersion', { paramKind: { kind: 'X' } }, ['spec.paramKind.apiVersion: Required value']],
  [
    'an invalid audit annotation key',
    { auditAnnotations: [{ key: 'a b', valueExpression: "'x'" }] },
    ['key: Invalid value: "p/a b"'],
  ],
  ['an unknown failurePolicy', { failurePolicy: 'X' }, ['spec.failurePolicy: Unsupported value: "X"']],
])('a validating policy with %s', (_what, spec, want) =>
  expect(refusals(validatingPolicyStrategy, validating(spec))).toEqual(containing(want)),
);

it('unchanged matchConditions are not validated again', () => {
  const old = validating({ matchConditions: [{ expression: 'true' }] });
  expect(updateRefusals(validatingPolicyStrategy, old, old)).toEqual([]);
  expect(updateRefusals(validatingPolicyStrategy, old, validating({}))).toHaveLength(1);
});

const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const applying = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const mutation = patching("[JSONPatch{op: 'add', path: '/a', value: 1}]");
it.each<[string, object, string[]]>([
  ['the required fields', {}, []],
  ['no mutation', { mutations: [] }, ['mutations must contain at least one item']],
  ['no reinvocationPolicy', { reinvocationPolicy: undefined }, ['spec.reinvocationPolicy: Required value']],
  ['no patchType', { mutations: [{}] }, ['spec.mutations[0].patchType: Required value']],
  ['an empty expression', { mutations: [applying(' ')] }, ['applyConfiguration.expression: Required value']],
  ['an Object', { mutations: [applying('Object{spec: Object.spec{replicas: 1}}')] }, []],
  ['an object', { mutations: [applying('object')] }, ['must evaluate to Object but got dyn']],
  ['an unknown type', { mutations: [applying('Nope{}')] }, ["undeclared reference to 'Nope' (in container '')"]],
  ['an empty list', { mutations: [patching('[]')] }, ['must evaluate to list(JSONPatch) but got list(dyn)']],
  [
    'an unknown field of a JSONPatch',
    { mutations: [patching("[JSONPatch{nope: 'a'}]")] },
    ["expected type of field 'nope' is '' but provided type is 'string'"],
  ],
  [
    'an escaped key',
    { mutations: [patching("[JSONPatch{op: 'remove', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b')}]")] },
    [],
  ],
  ['variables that it does not have', { mutations: [applying('Object{a: variables.a}')] }, ["undefined field 'a'"]],
  [
    'deletions',
    { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
    ['resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'],
  ],
  ['an unknown patchType', { mutations: [{ patchType: 'X' }] }, ['patchType: Unsupported value: "X"']],
  ['no patch', { mutations: [{ patchType: 'JSONPatch' }] }, ['must be specified when patchType is JSONPatch']],
  [
    'two patches',
    { mutations: [{ ...mutation, applyConfiguration: { expression: 'Object{}' } }] },
    ['"{applyConfiguration}": must not be specified when patchType is JSONPatch'],
  ],
])('a mutating policy with %s', (_what, spec, want) => {
  const policy = { reinvocationPolicy: 'Never', matchConstraints, mutations: [mutation], ...spec };
  expect(refusals(mutatingPolicyStrategy, object('MutatingAdmissionPolicy', policy))).toEqual(containing(want));
});

const binding = (spec: object) =>
  object('ValidatingAdmissionPolicyBinding', { policyName: 'p', validationActions: ['Deny'], ...spec });
const paramRef = { name: 'a', parameterNotFoundAction: 'Allow' };
it.each<[string, object, string[]]>([
  ['the required fields', { paramRef }, []],
  ['no policyName', { policyName: '' }, ['spec.policyName: Required value']],
  ['no actions', { validationActions: [] }, ['at least one validation action is required']],
  ['an unknown action', { validationActions: ['X'] }, ['validationActions[0]: Unsupported value: "X"']],
  ['one action twice', { validationActions: ['Warn', 'Warn'] }, ['validationActions[1]: Duplicate value: "Warn"']],
  ['Deny and Warn', { validationActions: ['Deny', 'Warn'] }, ['must not contain both Deny and Warn']],
  [
    'paramRef with name and selector',
    { paramRef: { ...paramRef, selector: {} } },
    ['name: Forbidden', 'selector: Forbidden'],
  ],
  [
    'paramRef without name and selector',
    { paramRef: { parameterNotFoundAction: 'Allow' } },
    ['one of name or selector must be specified'],
  ],
  ['no parameterNotFoundAction', { paramRef: { name: 'a' } }, ['parameterNotFoundAction: Required value']],
])('a binding with %s', (_what, spec, want) =>
  expect(refusals(validatingBindingStrategy, binding(spec))).toEqual(containing(want)),
);

it('bindings of mutating policies are valid without validationActions', () =>
  expect(refusals(mutatingBindingStrategy, object('MutatingAdmissionPolicyBinding', { policyName: 'p' }))).toEqual([]));

it.each<[object, unknown]>([
  [{}, '<unset>'],
  [{ paramRef: { name: 'a' } }, '*/a'],
  [{ paramRef: { name: 'a', namespace: 'n' } }, 'n/a'],
  [
    { paramRef: { selector: { matchLabels: { a: 'b' } } } },
    '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}',
  ],
])('the table row of a binding with %j', (spec, want) =>
  expect(bindingTable.cells(binding(spec), { nowMs: 0 })).toEqual(['p', 'p', want, '<unknown>']),
);

it('the table row of a policy', () =>
  expect(
    validatingPolicyTable.cells(validating({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }), { nowMs: 0 }),
  ).toEqual(['p', 1, 'v1/ConfigMap', '<unknown>']));

it.each(['v1', 'v1alpha1'] as const)(
  'mutating policies of %s have the fields of the storage version v1beta1',
  (version) => {
    const naming = namingProfile('kubernetes');
    const served = admissionregistrationResources(naming).map(({ plural }) => plural);
    for (const { plural, hub } of mutatingPolicies(naming, version)) {
      expect(served).toContain(plural);
      expect(hub!.stored).toEqual({ group: 'admissionregistration.k8s.io', version: 'v1beta1', plural });
      const policy = object('MutatingAdmissionPolicy', {});
      expect(hub!.fromHub(hub!.toHub(policy))).toEqual(policy);
    }
  },
);
