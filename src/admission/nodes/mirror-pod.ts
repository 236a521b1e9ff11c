import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { containersOf } from '../pods/containers.js';
import { podSecretNames } from '../service-account/pod-secrets.js';

/** Volume sources that need no other object of the API. */
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
 * The kind of object that a Pod's spec refers to, if there is any: a node could reach by a mirror Pod what it has no
 * right to by itself. Unknown volumes count as such.
 */
export function referencedKind(spec: Fields): string | undefined {
  if (asText(spec['serviceAccountName']) !== '') return 'serviceaccounts';
  if (podSecretNames(spec).length > 0) return 'secrets';
  if (containersOf(spec).some(usesConfigMap)) return 'configmaps';
  if (asItems(spec['resourceClaims']).length > 0) return 'resourceclaims';
  for (const { name: _name, ...sources } of asItems(spec['volumes'])) {
    for (const [source, value] of Object.entries(sources)) {
      if (!isSet(value) || plainVolumes.has(source)) continue;
      const kind = source === 'projected' ? projectedKind(asFields(value)) : otherVolumes[source];
      if (kind !== undefined || source !== 'projected') return kind ?? `unknown volumes (${source})`;
    }
  }
  return undefined;
}

function usesConfigMap(container: Fields): boolean {
  return (
    asItems(container['envFrom']).some(({ configMapRef }) => isSet(configMapRef)) ||
    asItems(container['env']).some(({ valueFrom }) => isSet(asFields(valueFrom)['configMapKeyRef']))
  );
}

function projectedKind(projected: Fields): string | undefined {
  for (const source of asItems(projected['sources'])) {
    for (const [name, value] of Object.entries(source)) {
      if (isSet(value) && name !== 'downwardAPI') return projections[name] ?? `unknown sources (${name})`;
    }
  }
  return undefined;
}

/** Why the owners of a mirror Pod are not the node alone; undefined if they are, but for its uid. */
export function ownerProblem(pod: KubeObject, node: string): string | undefined {
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  const only = (what: string) => `node "${node}" can only create pods with ${what}`;
  if (others.length > 0) return only('a single owner reference set to itself');
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return only('an owner reference set to itself');
  }
  if (owner.controller !== true) return only('a controller owner reference set to itself');
  if (owner.blockOwnerDeletion === true) return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  return undefined;
}
