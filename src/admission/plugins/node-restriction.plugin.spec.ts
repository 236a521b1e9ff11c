import { admitted, pluginParts, type WriteGiven } from '../../../test/harness/admission.js';
import { nodeRestriction } from './node-restriction.plugin.js';

const own = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true };
const mirror = (spec: object = {}, metadata: object = {}) => ({
  metadata: {
    name: 'p',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [own],
    ...metadata,
  },
  spec: { nodeName: 'n', ...spec },
});
const node = (labels: object = {}, spec: object = {}, name = 'n') => ({
  metadata: { name, labels: labels as Record<string, string> },
  spec,
});
const known = {
  '/nodes': [{ metadata: { name: 'n', uid: 'u' } }],
  '/pods': [
    { metadata: { name: 'mine', namespace: 'ns', uid: 'pu' }, spec: { nodeName: 'n', serviceAccountName: 'robot' } },
    { metadata: { name: 'other', namespace: 'ns', uid: 'ou' }, spec: { nodeName: 'm', serviceAccountName: 'robot' } },
  ],
};
const token = (ref: object | undefined): WriteGiven => ({
  of: '/serviceaccounts/token',
  object: { metadata: { name: 'robot' }, spec: { boundObjectRef: ref } },
});
const bound = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'pu' };
const nodes = { of: '/nodes', clusterWide: true } as const;
const lease = (name: string): WriteGiven => ({ of: 'coordination.k8s.io/leases', object: { metadata: { name } } });
const itself = 'node "n" can only create pods with an owner reference set to itself';

it.each<[string, WriteGiven, string | undefined]>([
  ['a mirror pod', { object: mirror() }, undefined],
  [
    'a pod that mirrors nothing',
    { object: mirror({}, { annotations: {} }) },
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods',
  ],
  [
    'a pod on another node',
    { object: mirror({ nodeName: 'm' }) },
    'node "n" can only create pods with spec.nodeName set to itself',
  ],
  ['a pod of nobody', { object: mirror({}, { ownerReferences: [] }) }, itself],
  ['a pod of another node', { object: mirror({}, { ownerReferences: [{ ...own, name: 'm' }] }) }, itself],
  [
    'a pod of an older node of its name',
    { object: mirror({}, { ownerReferences: [{ ...own, uid: 'v' }] }) },
    `${itself}: the uid is another one`,
  ],
  [
    'a pod with a secret',
    { object: mirror({ volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] }) },
    'node "n" can not create pods that reference secrets',
  ],
  [
    'a pod with a variable of a config map',
    { object: mirror({ containers: [{ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm' } } }] }] }) },
    'node "n" can not create pods that reference configmaps',
  ],
  [
    'a pod that acts as somebody',
    { object: mirror({ serviceAccountName: 'robot' }) },
    'node "n" can not create pods that reference a service account',
  ],
  ['the end of its pod', { operation: 'DELETE', old: mirror() }, undefined],
  [
    'the end of another pod',
    { operation: 'DELETE', old: mirror({ nodeName: 'm' }) },
    'node "n" can only delete pods with spec.nodeName set to itself',
  ],
  ['the status of its pod', { of: '/pods/status', object: mirror(), old: mirror() }, undefined],
  [
    'the status of another pod',
    { of: '/pods/status', object: mirror({ nodeName: 'm' }), old: mirror({ nodeName: 'm' }) },
    'node "n" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'labels with a status',
    { of: '/pods/status', object: mirror({}, { labels: { a: 'b' } }), old: mirror() },
    'node "n" cannot update labels through pod status',
  ],
  ['the eviction of its pod', { of: '/pods/eviction', object: { metadata: { name: 'mine' } } }, undefined],
  [
    'the eviction of another pod',
    { of: '/pods/eviction', object: { metadata: { name: 'other' } } },
    'node "n" can only evict pods with spec.nodeName set to itself',
  ],
  [
    'a binding',
    { of: '/pods/binding', object: { metadata: { name: 'mine' } } },
    "unexpected pod subresource, only 'status' and 'eviction' are allowed",
  ],
  [
    'itself',
    { ...nodes, object: node({ 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', mine: 'x' }) },
    undefined,
  ],
  ['another node', { ...nodes, object: node({}, {}, 'm') }, 'node "n" is not allowed to modify node "m"'],
  [
    'labels that are not its own',
    {
      ...nodes,
      object: node({ 'node-restriction.kubernetes.io/a': 'b', 'x.k8s.io/y': 'z', 'node.kubernetes.io/a': '' }),
    },
    'node "n" is not allowed to set the following labels: node-restriction.kubernetes.io/a, x.k8s.io/y',
  ],
  ['its own status', { ...nodes, of: '/nodes/status', object: node(), old: node() }, undefined],
  [
    'labels of a role',
    { ...nodes, object: node({ 'node-role.kubernetes.io/master': '' }), old: node() },
    'node "n" is not allowed to modify labels: node-role.kubernetes.io/master',
  ],
  [
    'its taints',
    { ...nodes, object: node(), old: node({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }) },
    'node "n" is not allowed to modify taints',
  ],
  ['its end', { ...nodes, operation: 'DELETE', old: node() }, 'node "n" is not allowed to delete itself'],
  ['a token for its pod', token(bound), undefined],
  ['a token for nothing', token(undefined), 'node requested token not bound to a pod'],
  [
    'a token for a pod of before',
    token({ ...bound, uid: 'x' }),
    'the UID in the bound object reference does not match a pod',
  ],
  [
    'a token for another pod',
    token({ ...bound, name: 'other', uid: 'ou' }),
    'node requested token bound to a pod scheduled on a different node',
  ],
  ['a lease elsewhere', lease('n'), 'can only access leases in the "kube-node-lease" system namespace'],
  [
    'what it has mounted',
    { of: 'storage.k8s.io/csinodes', object: { metadata: { name: 'm' } } },
    'can only access CSINode with the same name as the requesting node',
  ],
  [
    'devices of another node',
    { of: 'resource.k8s.io/resourceslices', object: { metadata: { name: 's' }, spec: { nodeName: 'm' } } },
    'can only create, modify and delete ResourceSlices with the same nodeName as the requesting node',
  ],
  ['a claim', { of: '/persistentvolumeclaims', object: { metadata: { name: 'c' } } }, 'may only update PVC status'],
  ['anything else', { of: '/configmaps', object: { metadata: { name: 'c' } } }, undefined],
])('a node writes %s', async (_what, given, want) => {
  const plugin = nodeRestriction(pluginParts({ known }));
  const user = { name: 'system:node:n', groups: ['system:nodes'] };
  expect((await admitted(plugin, { ...given, user })).refused).toBe(want);
  // It has no say in what others write.
  expect((await admitted(plugin, given)).refused).toBeUndefined();
});

it('knows who a node is by its name', async () => {
  const user = { name: 'jane', groups: ['system:nodes'] };
  const { refused } = await admitted(nodeRestriction(pluginParts()), { object: mirror(), user });
  expect(refused).toBe('could not determine node from user "jane"');
});
