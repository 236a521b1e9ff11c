import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { roleBindingStrategy } from './role-binding.strategy.js';
import { roleBindingTable } from './role-binding.table.js';
import { roleStrategy } from './role.strategy.js';

const group = 'rbac.authorization.k8s.io';
const role = (rest: object): KubeObject => ({
  kind: 'Role',
  apiVersion: `${group}/v1`,
  metadata: { name: 'r' },
  ...rest,
});
const namespacedRole = roleStrategy({ namespaced: true });
const clusterRole = roleStrategy({ namespaced: false });

it.each(['a%b', 'a/b', '..'])('the role name %s is refused', (name) =>
  expect(namespacedRole.validateName(name)).not.toEqual([]),
);
it('a role name may have colons, capitals and spaces', () =>
  expect(namespacedRole.validateName('system:A b')).toEqual([]));

it.each([{}, { rules: [] }])('absent and empty rules are stored as null: %j', (rest) =>
  expect(prepared(namespacedRole, role(rest))['rules']).toBeNull(),
);

const urls = { nonResourceURLs: ['/x'], verbs: ['get'] };
it.each<[string, object, string[], string[]]>([
  ['no verbs', { apiGroups: [''], resources: ['pods'] }, ['rules[0].verbs: Required'], ['rules[0].verbs: Required']],
  ['no resources', { apiGroups: [''], verbs: ['get'] }, ['rules[0].resources'], ['rules[0].resources']],
  ['no groups', { resources: ['pods'], verbs: ['get'] }, ['rules[0].apiGroups'], ['rules[0].apiGroups']],
  ['nonResourceURLs', urls, ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules'], []],
  [
    'nonResourceURLs and resources',
    { ...urls, resources: ['pods'] },
    ['namespaced rules', 'both regular'],
    ['both regular'],
  ],
])('a rule with %s', (_what, rule, inRole, inClusterRole) => {
  const object = role({ rules: [rule] });
  expect(refusals(namespacedRole, object)).toEqual(inRole.map((text) => expect.stringContaining(text)));
  expect(refusals(clusterRole, object)).toEqual(inClusterRole.map((text) => expect.stringContaining(text)));
});

it.each<[object, string[]]>([
  [{ clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }, []],
  [{}, ['at least one clusterRoleSelector required']],
  [{ clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] }, ['name part', 'invalid label selector.']],
])('aggregationRule %j is validated', (aggregationRule, want) =>
  expect(refusals(clusterRole, role({ aggregationRule }))).toEqual(want.map((text) => expect.stringContaining(text))),
);

const naming = namingProfile('kubernetes');
const binding = roleBindingStrategy(naming, { namespaced: true });
const clusterBinding = roleBindingStrategy(naming, { namespaced: false });
const view = { apiGroup: group, kind: 'ClusterRole', name: 'view' };
const bound = (subjects: object[], roleRef: object = view): KubeObject => ({
  kind: 'RoleBinding',
  apiVersion: `${group}/v1`,
  metadata: { name: 'b' },
  roleRef,
  subjects,
});

it('apiGroup of users, groups and the role has a default', () =>
  expect(
    prepared(
      binding,
      bound(
        [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's' },
        ],
        { kind: 'Role', name: 'r' },
      ),
    ),
  ).toMatchObject({
    roleRef: { apiGroup: group },
    subjects: [
      { kind: 'User', apiGroup: group },
      { kind: 'ServiceAccount', name: 's' },
    ],
  }));

it.each<[string, object, object, string[], string[]]>([
  ['a user', { kind: 'User', name: 'u' }, view, [], []],
  [
    'a ServiceAccount without namespace',
    { kind: 'ServiceAccount', name: 's' },
    view,
    [],
    ['subjects[0].namespace: Required value'],
  ],
  ['a subject of unknown kind', { kind: 'Robot', name: 'x' }, view, ['subjects[0].kind'], ['subjects[0].kind']],
  [
    'a subject without name',
    { kind: 'User' },
    view,
    ['subjects[0].name: Required value'],
    ['subjects[0].name: Required value'],
  ],
  [
    'a user with another apiGroup',
    { kind: 'User', name: 'u', apiGroup: 'x' },
    view,
    ['subjects[0].apiGroup'],
    ['subjects[0].apiGroup'],
  ],
  ['a Role', { kind: 'User', name: 'u' }, { kind: 'Role', name: 'r' }, [], ['roleRef.kind: Unsupported value: "Role"']],
  [
    'an empty roleRef',
    { kind: 'User', name: 'u' },
    {},
    ['roleRef.kind', 'roleRef.name'],
    ['roleRef.kind', 'roleRef.name'],
  ],
])('a binding of %s is validated', (_what, subject, roleRef, inNamespace, inCluster) => {
  const object = bound([subject], roleRef);
  expect(refusals(binding, object)).toEqual(inNamespace.map((text) => expect.stringContaining(text)));
  expect(refusals(clusterBinding, object)).toEqual(inCluster.map((text) => expect.stringContaining(text)));
});

it('roleRef is immutable', () => {
  expect(updateRefusals(binding, bound([{ kind: 'User', name: 'other' }]), bound([]))).toEqual([]);
  expect(updateRefusals(binding, bound([], { ...view, name: 'edit' }), bound([]))).toEqual([
    `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
  ]);
});

it('the table row of a binding', () =>
  expect(
    roleBindingTable.cells(
      bound([
        { kind: 'User', name: 'u' },
        { kind: 'User', name: 'v' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
      ]),
      { nowMs: 0 },
    ),
  ).toEqual(['b', 'ClusterRole/view', '<unknown>', 'u, v', 'g', 'n/s']));
