import { namingProfile } from '../../config/naming-profile.js';
import { parseFieldSelector } from '../../machinery/field-selector.js';
import { policyRuleOf } from '../../machinery/policy-rule.js';
import { systemClock } from '../../std/clock.js';
import type { AuthorizationAttributes } from '../authorizer.js';
import { NodeAuthorizer } from './node.authorizer.js';

/** Objects that are related to the node n1: kind, namespace and name. */
const related = new Set([
  ...['secret shop s', 'configMap shop c', 'claim shop d', 'volume  v', 'attachment  a', 'serviceAccount shop sa'],
  ...['resourceClaim shop r', 'resourceSlice  sl', 'certificateRequest shop cr', 'pod shop p'],
]);
const services = policyRuleOf({ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['services'] });
const authorizer = new NodeAuthorizer({
  relations: {
    *areRelated(node, ...object) {
      return node === 'n1' && related.has(object.join(' '));
    },
  },
  rules: [services],
  naming: namingProfile('kubernetes'),
  clock: systemClock,
});

const node = (name: string) => ({ name, uid: '', groups: ['system:nodes', 'system:authenticated'], extra: {} });
const n1 = node('system:node:n1');
type Changes = Partial<AuthorizationAttributes>;
const asked = (changes: Changes): AuthorizationAttributes => ({
  ...{ user: n1, verb: 'get', isResourceRequest: changes.path === undefined, group: '', version: 'v1', resource: '' },
  ...{ subresource: '', namespace: '', name: '', path: '' },
  ...changes,
});
const answerTo = async (changes: Changes) => {
  const { decision, reason } = await authorizer.authorize(asked(changes));
  return decision === 'allow' ? 'allow' : reason;
};

/** `list resource.k8s.io/resourceslices name [fieldSelector]`, `get shop/pods/status name`. */
function parse(text: string): Changes {
  const [verb = '', target = '', name = '', selector] = text.split(' ');
  const [first = '', second, subresource = ''] = target.split('/');
  const isGroup = first.endsWith('.k8s.io');
  const resource = second ?? first;
  return {
    verb,
    group: isGroup ? first : '',
    resource,
    subresource,
    namespace: !isGroup && second !== undefined && first !== '-' ? first : '',
    name: name === '-' ? '' : name,
    ...(selector !== undefined && { fieldSelector: parseFieldSelector(selector) }),
  };
}

const unrelated = "no relationship found between node 'n1' and this object";

describe('a node', () => {
  it.each<[string, string]>([
    ['get shop/secrets s', 'allow'],
    ['list shop/secrets s', 'allow'],
    ['watch shop/secrets s', 'allow'],
    ['get shop/secrets other', unrelated],
    ['get other/secrets s', unrelated],
    ['list shop/secrets', 'No Object name found'],
    ['list secrets', 'can only read namespaced object of this type'],
    ['update shop/secrets s', 'can only read resources of this type'],
    ['delete shop/secrets s', 'can only read resources of this type'],
    ['get shop/secrets/x s', 'cannot read subresource'],
    ['get shop/configmaps c', 'allow'],
    ['get shop/configmaps s', unrelated],
    ['get shop/persistentvolumeclaims d', 'allow'],
    ['list shop/persistentvolumeclaims d', 'can only get individual resources of this type'],
    ['patch shop/persistentvolumeclaims/status d', 'allow'],
    ['patch shop/persistentvolumeclaims/status other', unrelated],
    ['delete shop/persistentvolumeclaims/status d', 'can only get/update/patch this type'],
    ['update shop/persistentvolumeclaims d', 'can only get individual resources of this type'],
    ['get persistentvolumes v', 'allow'],
    ['get persistentvolumes other', unrelated],
    ['get storage.k8s.io/volumeattachments a', 'allow'],
    ['get storage.k8s.io/volumeattachments/status a', 'cannot get subresource'],
    ['get shop/serviceaccounts sa', 'allow'],
    ['get shop/serviceaccounts other', unrelated],
    ['create shop/serviceaccounts/token sa', 'allow'],
    ['create shop/serviceaccounts/token other', unrelated],
    ['create shop/serviceaccounts sa', 'can only create token subresource of serviceaccount'],
    ['list shop/serviceaccounts', 'can only create tokens for individual service accounts'],
    ['get nodes n1', 'allow'],
    ['watch nodes n1', 'allow'],
    ['get nodes n2', "node 'n1' cannot read 'n2', only its own Node object"],
    ['list nodes', "node 'n1' cannot read all nodes, only its own Node object"],
    ['create nodes', 'allow'],
    ['patch -/nodes/status n2', 'allow'],
    ['delete nodes n1', ''],
    ['get -/nodes/proxy n1', ''],
    ['get shop/pods p', 'allow'],
    ['get shop/pods other', unrelated],
    ['list pods', 'can only list/watch pods with spec.nodeName field selector'],
    ['list pods - spec.nodeName=n1', 'allow'],
    ['watch pods - status.phase!=Failed,spec.nodeName=n1', 'allow'],
    ['list pods - spec.nodeName=n2', 'can only list/watch pods with spec.nodeName field selector'],
    ['list pods - spec.nodeName!=n1', 'can only list/watch pods with spec.nodeName field selector'],
    ['watch shop/pods p', 'allow'],
    ['deletecollection shop/pods - spec.nodeName=n1', ''],
    ['create shop/pods', 'allow'],
    ['delete shop/pods other', 'allow'],
    ['update shop/pods p', ''],
    ['patch shop/pods/status other', 'allow'],
    ['create shop/pods/eviction p', 'allow'],
    ['create shop/pods/exec p', ''],
    ['create shop/pods/binding p', ''],
    ['get services', 'allow'],
    ['delete services', ''],
    ['get endpoints', ''],
    ['get shop/resource.k8s.io', ''],
    ['get storage.k8s.io/csinodes n1', 'allow'],
    ['create storage.k8s.io/csinodes', 'allow'],
    ['delete storage.k8s.io/csinodes n2', 'can only access CSINode with the same name as the requesting node'],
    ['list storage.k8s.io/csinodes', 'can only get, create, update, patch, or delete a CSINode'],
    ['get resource.k8s.io/resourceslices sl', 'allow'],
    ['delete resource.k8s.io/resourceslices other', unrelated],
    ['create resource.k8s.io/resourceslices', 'allow'],
    ['deletecollection resource.k8s.io/resourceslices - spec.nodeName=n1', 'allow'],
    [
      'deletecollection resource.k8s.io/resourceslices',
      'can only list/watch/deletecollection resourceslices with nodeName field selector',
    ],
    ['get resource.k8s.io/resourceclaims r', unrelated],
  ])('%s', (text, answer) => expect(answerTo(parse(text))).resolves.toBe(answer));

  it.each<[string, Changes, string]>([
    [
      'reads a resource claim of its Pods',
      { group: 'resource.k8s.io', resource: 'resourceclaims', name: 'r' },
      'allow',
    ],
    ['reads its certificate request', { resource: 'podcertificaterequests', name: 'cr' }, 'allow'],
    ['does not read another one', { resource: 'podcertificaterequests', name: 'other' }, unrelated],
    ['creates certificate requests', { resource: 'podcertificaterequests', verb: 'create' }, 'allow'],
    [
      'does not list all certificate requests',
      { resource: 'podcertificaterequests', verb: 'list' },
      'can only list/watch podcertificaterequests with nodeName field selector',
    ],
  ])('%s (claims and certificates)', (_title, changes, answer) =>
    expect(answerTo({ group: 'certificates.k8s.io', namespace: 'shop', ...changes })).resolves.toBe(answer),
  );

  it.each<[string, Changes, string]>([
    ['renews its lease', { verb: 'update', name: 'n1' }, 'allow'],
    ['creates its lease', { verb: 'create' }, 'allow'],
    [
      'does not renew the lease of another node',
      { verb: 'update', name: 'n2' },
      'can only access node lease with the same name as the requesting node',
    ],
    ['does not list leases', { verb: 'list' }, 'can only get, create, update, patch, or delete a node lease'],
    [
      'does not use other namespaces',
      { name: 'n1', namespace: 'kube-system' },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
  ])('%s (leases)', (_title, changes, answer) =>
    expect(
      answerTo({ group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', ...changes }),
    ).resolves.toBe(answer),
  );
});

it.each<[string, Changes, string]>([
  ['a user of another group is no node', { user: { ...n1, groups: ['system:authenticated'] } }, ''],
  ['a member of system:nodes with another name is no node', { user: node('n1') }, ''],
  ['a node without a name is unknown', { user: node('system:node:') }, 'unknown node for user "system:node:"'],
  ['a node has no access to other paths', { path: '/metrics' }, ''],
])('%s', (_title, changes, answer) =>
  expect(answerTo({ resource: 'secrets', namespace: 'shop', name: 's', ...changes })).resolves.toBe(answer),
);
