import type { KubeObject } from '../../../machinery/kube-object.js';
import { givesAnother, putRight } from './add-missing.js';

const object = (fields: object, metadata: object = {}): KubeObject => ({
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
const gathering = (labels: string[], ...rules: object[]) => {
  const clusterRoleSelectors = labels.map((label) => ({ matchLabels: { [label]: 'true' } }));
  return object({ aggregationRule: { clusterRoleSelectors }, rules });
};

const [pods, nodes] = [rule('get,list', 'pods'), rule('get', 'nodes')];

it.each<[what: string, current: KubeObject, wanted: KubeObject, want: KubeObject]>([
  ['a rule that is missing', role(pods), role(nodes, pods), role(pods, nodes)],
  ['all rules of a role that has none', object({ rules: null }), role(pods), role(pods)],
  ['a rule that is there in part', role(rule('get', 'pods')), role(pods), role(rule('get', 'pods'), pods)],
  ['a subject that is missing', binding(user('x')), binding(user('a')), binding(user('x'), user('a'))],
  ['subjects where there are none', binding(), binding(user('a')), binding(user('a'))],
  ['whom it gathers from, and no rules', gathering(['x']), gathering(['a'], pods), gathering(['x', 'a'])],
  ['that it gathers', role(pods), gathering(['a'], nodes), { ...gathering(['a']), rules: [pods] }],
  [
    'labels and annotations, where there is none of the name',
    object({ rules: [pods] }, { labels: { a: '1' } }),
    object({ rules: [pods] }, { labels: { a: '2', b: '2' }, annotations: { c: '2' } }),
    object({ rules: [pods] }, { labels: { a: '1', b: '2' }, annotations: { c: '2' } }),
  ],
])('adds %s', (_what, current, wanted, want) => {
  const { labels = {}, annotations = {} } = want.metadata;
  expect(putRight(current, wanted)).toEqual({ ...want, metadata: { ...want.metadata, labels, annotations } });
});

const complete = { labels: { a: '1' }, annotations: { b: '2' } };
it.each<[what: string, current: object, wanted: object]>([
  ['is the same', { rules: [pods] }, { rules: [pods] }],
  ['allows more', { rules: [nodes, pods] }, { rules: [pods] }],
  ['says the same in other words', { rules: [rule('list', 'pods'), rule('get', '*')] }, { rules: [pods, nodes] }],
  ['has more subjects', { roleRef, subjects: [user('x'), user('a')] }, { roleRef, subjects: [user('a')] }],
])('leaves what %s as it is', (_what, current, wanted) => {
  const before = object(current, complete);
  expect(putRight(before, object(wanted, complete))).toBe(before);
});

it.each([
  ['the same role', roleRef, false],
  ['a role of another name', { ...roleRef, name: 'other' }, true],
  ['a role of another kind', { ...roleRef, kind: 'Role' }, true],
])('a binding of %s is to be made again: %s', (_what, ref, want) =>
  expect(givesAnother(object({ roleRef: ref }), binding(user('a')))).toBe(want),
);
