import { admitted, hooksOf, type WriteGiven } from '../../../test/harness/admission.js';
import {
  certificateRequest,
  der,
  derAttribute,
  derString,
  pemBlock,
} from '../../../test/harness/distinguished-names.js';
import { nodeRestriction } from './node-restriction.plugin.js';

const ownerNode = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true };
const mirror = (spec: object = {}, metadata: object = {}) => ({
  metadata: {
    name: 'p',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [ownerNode],
    ...metadata,
  },
  spec: { nodeName: 'n', ...spec },
});
const node = (labels: object = {}, spec: object = {}, name = 'n') => ({
  metadata: { name, labels: labels as Record<string, string> },
  spec,
});
const projected = (...sources: object[]) => ({ name: 'v', projected: { sources } });
const volumes = [
  projected({ serviceAccountToken: {} }, { serviceAccountToken: { audience: 'vault' } }),
  { name: 'd', csi: { driver: 'd.example.com' } },
  { name: 'c', persistentVolumeClaim: { claimName: 'c' } },
];
const known = {
  '/persistentvolumeclaims': [{ metadata: { name: 'c', namespace: 'ns' }, spec: { volumeName: 'pv' } }],
  '/persistentvolumes': [{ metadata: { name: 'pv' }, spec: { awsElasticBlockStore: { volumeID: 'x' } } }],
  'storage.k8s.io/csidrivers': [
    { metadata: { name: 'd.example.com' }, spec: { tokenRequests: [{ audience: 'disks' }] } },
    { metadata: { name: 'ebs.csi.aws.com' }, spec: { tokenRequests: [{ audience: 'aws' }] } },
  ],
  '/serviceaccounts': [{ metadata: { name: 'robot', namespace: 'ns', uid: 'su' } }],
  '/nodes': [{ metadata: { name: 'n', uid: 'u' } }],
  '/pods': [
    {
      metadata: { name: 'mine', namespace: 'ns', uid: 'pu' },
      spec: { nodeName: 'n', serviceAccountName: 'robot', volumes },
    },
    { metadata: { name: 'other', namespace: 'ns', uid: 'ou' }, spec: { nodeName: 'm', serviceAccountName: 'robot' } },
  ],
};
const token = (ref: object | undefined, audiences: string[] = []): WriteGiven => ({
  of: '/serviceaccounts/token',
  object: { metadata: { name: 'robot' }, spec: { boundObjectRef: ref, audiences } },
});
const bound = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'pu' };
const nodes = { of: '/nodes', clusterWide: true } as const;
const lease = (name: string): WriteGiven => ({ of: 'coordination.k8s.io/leases', object: { metadata: { name } } });
const signing = (commonName: string, signerName = 'kubernetes.io/kube-apiserver-client-kubelet'): WriteGiven => {
  const name = der(0x30, der(0x31, derAttribute('CN', derString('bmp', commonName))));
  const request = Buffer.from(pemBlock(certificateRequest(name))).toString('base64');
  const of = 'certificates.k8s.io/certificatesigningrequests';
  return { of, clusterWide: true, object: { metadata: { name: 'r' }, spec: { signerName, request } } };
};
const otherNodeCertificate = 'can only create a node CSR with CN=system:node:n';
const podCertificate = (spec: object = {}): WriteGiven => ({
  of: 'certificates.k8s.io/podcertificaterequests',
  object: {
    metadata: { name: 'r' },
    spec: {
      ...{ nodeName: 'n', nodeUID: 'u', podName: 'mine', podUID: 'pu' },
      ...{ serviceAccountName: 'robot', serviceAccountUID: 'su', ...spec },
    },
  },
});
const claimStatus = (object: object): WriteGiven => ({
  of: '/persistentvolumeclaims/status',
  object: { metadata: { name: 'c' }, ...object },
  old: { metadata: { name: 'c' }, status: { phase: 'Bound' } },
});
const notCapacity = 'node "n" is not allowed to update fields other than status.quantity and status.conditions';
const itself = 'node "n" can only create pods with an owner reference set to itself';

it.each<[string, WriteGiven, string | undefined]>([
  ['a mirror pod', { object: mirror() }, undefined],
  [
    'a pod without the mirror annotation',
    { object: mirror({}, { annotations: {} }) },
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods',
  ],
  [
    'a mirror pod on another node',
    { object: mirror({ nodeName: 'm' }) },
    'node "n" can only create pods with spec.nodeName set to itself',
  ],
  ['a mirror pod without an owner', { object: mirror({}, { ownerReferences: [] }) }, itself],
  [
    'a mirror pod owned by another node',
    { object: mirror({}, { ownerReferences: [{ ...ownerNode, name: 'm' }] }) },
    itself,
  ],
  [
    'a mirror pod owned by a deleted node of the same name',
    { object: mirror({}, { ownerReferences: [{ ...ownerNode, uid: 'v' }] }) },
    'node n UID mismatch: expected v got u',
  ],
  [
    'a mirror pod with a projected secret',
    { object: mirror({ volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] }) },
    'node "n" can not create pods that reference secrets',
  ],
  [
    'a mirror pod with a variable from a config map',
    { object: mirror({ containers: [{ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm' } } }] }] }) },
    'node "n" can not create pods that reference configmaps',
  ],
  [
    'a mirror pod with a service account',
    { object: mirror({ serviceAccountName: 'robot' }) },
    'node "n" can not create pods that reference serviceaccounts',
  ],
  ['the deletion of a pod on it', { operation: 'DELETE', old: mirror() }, undefined],
  [
    'the deletion of a pod on another node',
    { operation: 'DELETE', old: mirror({ nodeName: 'm' }) },
    'node "n" can only delete pods with spec.nodeName set to itself',
  ],
  ['the status of a pod on it', { of: '/pods/status', object: mirror(), old: mirror() }, undefined],
  [
    'the status of a pod on another node',
    { of: '/pods/status', object: mirror({ nodeName: 'm' }), old: mirror({ nodeName: 'm' }) },
    'node "n" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'labels of a pod through its status',
    { of: '/pods/status', object: mirror({}, { labels: { a: 'b' } }), old: mirror() },
    'node "n" cannot update labels through pod status',
  ],
  ['the eviction of a pod on it', { of: '/pods/eviction', object: { metadata: { name: 'mine' } } }, undefined],
  [
    'the eviction of a pod on another node',
    { of: '/pods/eviction', object: { metadata: { name: 'other' } } },
    'node "n" can only evict pods with spec.nodeName set to itself',
  ],
  [
    'a binding of a pod',
    { of: '/pods/binding', object: { metadata: { name: 'mine' } } },
    "unexpected pod subresource, only 'status' and 'eviction' are allowed",
  ],
  [
    'its own Node with allowed labels',
    { ...nodes, object: node({ 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', mine: 'x' }) },
    undefined,
  ],
  ['the Node of another node', { ...nodes, object: node({}, {}, 'm') }, 'node "n" is not allowed to modify node "m"'],
  [
    'reserved labels on its own Node',
    {
      ...nodes,
      object: node({ 'node-restriction.kubernetes.io/a': 'b', 'x.k8s.io/y': 'z', 'node.kubernetes.io/a': '' }),
    },
    'node "n" is not allowed to set the following labels: node-restriction.kubernetes.io/a, x.k8s.io/y',
  ],
  ['the status of its own Node', { ...nodes, of: '/nodes/status', object: node(), old: node() }, undefined],
  [
    'a node role label',
    { ...nodes, object: node({ 'node-role.kubernetes.io/master': '' }), old: node() },
    'node "n" is not allowed to modify labels: node-role.kubernetes.io/master',
  ],
  [
    'the taints of its own Node',
    { ...nodes, object: node(), old: node({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }) },
    'node "n" is not allowed to modify taints',
  ],
  [
    'the deletion of its own Node',
    { ...nodes, operation: 'DELETE', old: node() },
    'node "n" is not allowed to delete itself',
  ],
  ['a token bound to a pod on it', token(bound), undefined],
  ['a token that is not bound to a pod', token(undefined), 'node requested token not bound to a pod'],
  [
    'a token bound to a pod with another uid',
    token({ ...bound, uid: 'x' }),
    'the UID in the bound object reference does not match a pod',
  ],
  [
    'a token bound to a pod on another node',
    token({ ...bound, name: 'other', uid: 'ou' }),
    'node requested token bound to a pod scheduled on a different node',
  ],
  ['a token for the audience of a projected volume', token(bound, ['vault']), undefined],
  ['a token for the audience of a CSI driver of a volume', token(bound, ['disks']), undefined],
  ['a token for the audience of a CSI driver of a claim', token(bound, ['aws']), undefined],
  [
    'a token for an audience that the pod does not use',
    token(bound, ['other']),
    'audience "other" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience',
  ],
  ['a token for two audiences', token(bound, ['vault', 'disks']), 'node may only request 0 or 1 audiences'],
  ['a CertificateSigningRequest for its own client certificate', signing('system:node:n'), undefined],
  [
    'a CertificateSigningRequest for its own serving certificate',
    signing('system:node:n', 'kubernetes.io/kubelet-serving'),
    undefined,
  ],
  ['a CertificateSigningRequest for another signer', signing('joe', 'example.com/s'), undefined],
  [
    'a CertificateSigningRequest for the client certificate of another node',
    signing('system:node:m'),
    otherNodeCertificate,
  ],
  [
    'a CertificateSigningRequest for the serving certificate of another node',
    signing('system:node:m', 'kubernetes.io/kubelet-serving'),
    otherNodeCertificate,
  ],
  ['a CertificateSigningRequest without a common name', signing(''), otherNodeCertificate],
  ['a PodCertificateRequest for a pod on it', podCertificate(), undefined],
  [
    'a PodCertificateRequest that names another node',
    podCertificate({ nodeName: 'm' }),
    'PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"',
  ],
  [
    'a PodCertificateRequest with another node uid',
    podCertificate({ nodeUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" names a node UID that is not that of the running node',
  ],
  [
    'a PodCertificateRequest for a pod on another node',
    podCertificate({ podName: 'other', podUID: 'ou' }),
    'pod "ns/other" is not running on node "n" named in the PodCertificateRequest',
  ],
  [
    'a PodCertificateRequest with another pod uid',
    podCertificate({ podUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" contains a pod UID that is not that of a running pod',
  ],
  [
    'a PodCertificateRequest with another service account',
    podCertificate({ serviceAccountName: 'admin' }),
    'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("admin") that differs from running pod ("robot")',
  ],
  [
    'a PodCertificateRequest with another service account uid',
    podCertificate({ serviceAccountUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" names a service account UID that is not that of the running service account',
  ],
  ['status.capacity of a claim', claimStatus({ status: { phase: 'Bound', capacity: { storage: '1' } } }), undefined],
  ['status.phase of a claim', claimStatus({ status: { phase: 'Lost' } }), notCapacity],
  [
    'labels of a claim through its status',
    claimStatus({ metadata: { name: 'c', labels: { a: 'b' } }, status: { phase: 'Bound' } }),
    notCapacity,
  ],
  [
    'status.resourceClaimStatuses of a pod',
    { of: '/pods/status', object: { ...mirror(), status: { resourceClaimStatuses: [{ name: 'a' }] } }, old: mirror() },
    'node "n" cannot update resource claim statues',
  ],
  [
    'status.extendedResourceClaimStatus of a pod',
    { of: '/pods/status', object: { ...mirror(), status: { extendedResourceClaimStatus: { a: 1 } } }, old: mirror() },
    'node "n" cannot update extended resource claim status',
  ],
  ...(
    [
      [{ csi: { driver: 'd' } }, 'csidrivers (via CSI volumes)'],
      [{ glusterfs: { endpoints: 'e' } }, 'endpoints (via glusterFS volumes)'],
      [{ persistentVolumeClaim: { claimName: 'c' } }, 'persistentvolumeclaims'],
      [{ ephemeral: {} }, 'persistentvolumeclaims (via ephemeral volumes)'],
      [projected({ clusterTrustBundle: { path: 'a' } }), 'clustertrustbundles'],
      [projected({ podCertificate: { signerName: 'a' } }), 'podcertificates'],
      [projected({ serviceAccountToken: { path: 'a' } }), 'serviceaccounts (via projected volumes)'],
      [projected({ downwardAPI: {} }, { magic: {} }), 'unknown sources (magic)'],
      [{ magic: {} }, 'unknown volumes (magic)'],
    ] as const
  ).map(([volume, kind]): [string, WriteGiven, string] => [
    `a mirror pod with a reference to ${kind}`,
    { object: mirror({ volumes: [{ emptyDir: {} }, volume] }) },
    `node "n" can not create pods that reference ${kind}`,
  ]),
  ['a lease in another namespace', lease('n'), 'can only access leases in the "kube-node-lease" system namespace'],
  [
    'the CSINode of another node',
    { of: 'storage.k8s.io/csinodes', object: { metadata: { name: 'm' } } },
    'can only access CSINode with the same name as the requesting node',
  ],
  [
    'a ResourceSlice of another node',
    { of: 'resource.k8s.io/resourceslices', object: { metadata: { name: 's' }, spec: { nodeName: 'm' } } },
    'can only create, modify and delete ResourceSlices with the same nodeName as the requesting node',
  ],
  [
    'a claim itself',
    { of: '/persistentvolumeclaims', object: { metadata: { name: 'c' } } },
    'may only update PVC status',
  ],
  ['a resource without a rule', { of: '/configmaps', object: { metadata: { name: 'c' } } }, undefined],
])('a node writes %s: refused with the error, if any; other users are not restricted', async (_what, given, want) => {
  const plugin = hooksOf(nodeRestriction, { known });
  const user = { name: 'system:node:n', groups: ['system:nodes'] };
  expect((await admitted(plugin, { ...given, user })).refused).toBe(want);
  expect((await admitted(plugin, given)).refused).toBeUndefined();
});

it('a user in the group system:nodes without a node name is refused', async () => {
  const user = { name: 'jane', groups: ['system:nodes'] };
  const { refused } = await admitted(hooksOf(nodeRestriction), { object: mirror(), user });
  expect(refused).toBe('could not determine node from user "jane"');
});
