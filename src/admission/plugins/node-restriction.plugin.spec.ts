import { admitted, pluginParts, type WriteGiven } from '../../../test/harness/admission.js';
import {
  certificateRequest,
  der,
  derAttribute,
  derString,
  pemBlock,
} from '../../../test/harness/distinguished-names.js';
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
const notItsCertificate = 'can only create a node CSR with CN=system:node:n';
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
    'node n UID mismatch: expected v got u',
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
    'node "n" can not create pods that reference serviceaccounts',
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
  ['a token for an audience of a volume', token(bound, ['vault']), undefined],
  ['a token for the driver of a volume', token(bound, ['disks']), undefined],
  ['a token for the driver of a claim', token(bound, ['aws']), undefined],
  [
    'a token for another audience',
    token(bound, ['other']),
    'audience "other" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience',
  ],
  ['a token for two audiences', token(bound, ['vault', 'disks']), 'node may only request 0 or 1 audiences'],
  ['a request for its own certificate', signing('system:node:n'), undefined],
  ['a request for a serving certificate', signing('system:node:n', 'kubernetes.io/kubelet-serving'), undefined],
  ['a request for any signer', signing('joe', 'example.com/s'), undefined],
  ['a request for the certificate of another node', signing('system:node:m'), notItsCertificate],
  [
    'a serving certificate of another node',
    signing('system:node:m', 'kubernetes.io/kubelet-serving'),
    notItsCertificate,
  ],
  ['a request without a name', signing(''), notItsCertificate],
  ['a certificate for its pod', podCertificate(), undefined],
  [
    'a certificate for a pod by another node',
    podCertificate({ nodeName: 'm' }),
    'PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"',
  ],
  [
    'a certificate for a pod of an older node',
    podCertificate({ nodeUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" names a node UID that is not that of the running node',
  ],
  [
    'a certificate for a pod elsewhere',
    podCertificate({ podName: 'other', podUID: 'ou' }),
    'pod "ns/other" is not running on node "n" named in the PodCertificateRequest',
  ],
  [
    'a certificate for a pod of before',
    podCertificate({ podUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" contains a pod UID that is not that of a running pod',
  ],
  [
    'a certificate for another account',
    podCertificate({ serviceAccountName: 'admin' }),
    'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("admin") that differs from running pod ("robot")',
  ],
  [
    'a certificate for an account of before',
    podCertificate({ serviceAccountUID: 'x' }),
    'PodCertificateRequest for pod "ns/mine" names a service account UID that is not that of the running service account',
  ],
  ['the capacity of a claim', claimStatus({ status: { phase: 'Bound', capacity: { storage: '1' } } }), undefined],
  ['the phase of a claim', claimStatus({ status: { phase: 'Lost' } }), notCapacity],
  [
    'labels of a claim',
    claimStatus({ metadata: { name: 'c', labels: { a: 'b' } }, status: { phase: 'Bound' } }),
    notCapacity,
  ],
  [
    'claims of a pod',
    { of: '/pods/status', object: { ...mirror(), status: { resourceClaimStatuses: [{ name: 'a' }] } }, old: mirror() },
    'node "n" cannot update resource claim statues',
  ],
  [
    'the extended claim of a pod',
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
    `a pod that reaches ${kind}`,
    { object: mirror({ volumes: [{ emptyDir: {} }, volume] }) },
    `node "n" can not create pods that reference ${kind}`,
  ]),
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
