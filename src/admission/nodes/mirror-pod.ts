import type { Container, Pod, PodSpec, ProjectedVolumeSource } from '../../catalog/types/core.v1.js';
import { containersOf } from '../../pods/containers.js';
import { podSecretNames } from '../../pods/pod-secrets.js';

/** Volume sources that refer to no other API object. */
const plainVolumes = new Set([
  ...['awsElasticBlockStore', 'azureDisk', 'cephfs', 'cinder', 'downwardAPI', 'emptyDir', 'fc', 'flexVolume'],
  ...['flocker', 'gcePersistentDisk', 'gitRepo', 'hostPath', 'image', 'iscsi', 'nfs', 'photonPersistentDisk'],
  ...['portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
]);
const otherVolumes: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};
const projections: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

/**
 * Returns the resource of the first API object that the Pod refers to, undefined if it refers to none. A mirror Pod with a
 * reference would give its node access to the object. Unknown volume sources count as references.
 */
export function referencedKind(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (podSecretNames(spec).length > 0) return 'secrets';
  if (containersOf(spec).some(usesConfigMap)) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const { name: _name, ...sources } of spec.volumes ?? []) {
    for (const [source, value] of Object.entries(sources)) {
      if (value === undefined || plainVolumes.has(source)) continue;
      const kind = source === 'projected' ? projectedKind(sources.projected) : otherVolumes[source];
      if (kind !== undefined || source !== 'projected') return kind ?? `unknown volumes (${source})`;
    }
  }
  return undefined;
}

function usesConfigMap({ env = [], envFrom = [] }: Container): boolean {
  return (
    envFrom.some(({ configMapRef }) => configMapRef !== undefined) ||
    env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined)
  );
}

function projectedKind(projected: ProjectedVolumeSource | undefined): string | undefined {
  for (const source of projected?.sources ?? []) {
    for (const [name, value] of Object.entries(source)) {
      if (value !== undefined && name !== 'downwardAPI') return projections[name] ?? `unknown sources (${name})`;
    }
  }
  return undefined;
}

/** Returns the error if the owner of a mirror Pod is not its node alone. Does not compare the uid of the node. */
export function ownerProblem({ metadata }: Pod, node: string): string | undefined {
  const [owner, ...others] = metadata.ownerReferences ?? [];
  const only = (what: string) => `node "${node}" can only create pods with ${what}`;
  if (others.length > 0) return only('a single owner reference set to itself');
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return only('an owner reference set to itself');
  }
  if (owner.controller !== true) return only('a controller owner reference set to itself');
  if (owner.blockOwnerDeletion === true) return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  return undefined;
}
