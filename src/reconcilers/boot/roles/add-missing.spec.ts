import { addMissing, hasOtherRole, type RbacObject } from './add-missing.js';

const object = (fields: object, metadata: object = {}): RbacObject => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name: 'r', ...metadata },
  ...fields,
});
const rule = (verbs: string, resources: string) => ({
  verbs: verbs.split(','),
  apiGroups: [''],
  resources: resources.split(','),
});
const role = (...rules: object[]) => object({ rules });
const user = (name: string) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name });
const roleRef = { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'r' };
const binding = (...subjects: object[]) => object({ roleRef, ...(subjects.length > 0 && { subjects }) });
const aggregating = (labels: string[], ...rules: object[]) => {
  const clusterRoleSelectors = labels.map((label) => ({ matchLabels: { [label]: 'true' } }));
  return object({ aggregationRule: { clusterRoleSelectors }, rules });
};

const [pods, nodes] = [rule('get,list', 'pods'), rule('get', 'nodes')];

it.each<[what: string, current: RbacObject, wanted: RbacObject, want: RbacObject]>([
  ['a missing rule', role(pods), role(nodes, pods), role(pods, nodes)],
  ['all rules to a role without rules', object({ rules: null }), role(pods), role(pods)],
  ['a rule that is present in part', role(rule('get', 'pods')), role(pods), role(rule('get', 'pods'), pods)],
  ['a missing subject', binding(user('x')), binding(user('a')), binding(user('x'), user('a'))],
  ['subjects to a binding without subjects', binding(), binding(user('a')), binding(user('a'))],
  ['missing selectors, and no rules,', aggregating(['x']), aggregating(['a'], pods), aggregating(['x', 'a'])],
  ['a missing aggregationRule', role(pods), aggregating(['a'], nodes), { ...aggregating(['a']), rules: [pods] }],
  [
    'missing labels and annotations',
    object({ rules: [pods] }, { labels: { a: '1' } }),
    object({ rules: [pods] }, { labels: { a: '2', b: '2' }, annotations: { c: '2' } }),
    object({ rules: [pods] }, { labels: { a: '1', b: '2' }, annotations: { c: '2' } }),
  ],
])('adds %s', (_what, current, wanted, want) => {
  const { labels = {}, annotations = {} } = want.metadata;
  expect(addMissing(current, wanted)).toEqual({ ...want, metadata: { ...want.metadata, labels, annotations } });
});

const complete = { labels: { a: '1' }, annotations: { b: '2' } };
it.each<[what: string, current: object, wanted: object]>([
  ['is equal', { rules: [pods] }, { rules: [pods] }],
  ['has more rules', { rules: [nodes, pods] }, { rules: [pods] }],
  [
    'has other rules that allow the same',
    { rules: [rule('list', 'pods'), rule('get', '*')] },
    { rules: [pods, nodes] },
  ],
  ['has more subjects', { roleRef, subjects: [user('x'), user('a')] }, { roleRef, subjects: [user('a')] }],
])('does not change an object that %s', (_what, current, wanted) => {
  const before = object(current, complete);
  expect(addMissing(before, object(wanted, complete))).toBe(before);
});

it.each([
  ['the same role', roleRef, false],
  ['a role of another name', { ...roleRef, name: 'other' }, true],
  ['a role of another kind', { ...roleRef, kind: 'Role' }, true],
])('a binding to %s has to be created again: %s', (_what, ref, want) =>
  expect(hasOtherRole(object({ roleRef: ref }), binding(user('a')))).toBe(want),
);
