import type { KubeObject } from '../machinery/kube-object.js';
import { nameIsDnsLabel } from '../machinery/names.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import type { Strategy } from '../registry/definition/strategy.js';
import { ageCell, ageColumn, nameColumn } from '../registry/definition/table.js';

export const clustersVersion = { group: 'clusters.keelson.dev', version: 'v1alpha1' } as const;

/** On every LogicalCluster, until the keys of the cluster are deleted. */
export const clusterKeysFinalizer = 'clusters.keelson.dev/keys';

export const kubeconfigRequest = { ...clustersVersion, kind: 'KubeconfigRequest' } as const;

/** A LogicalCluster has no fields but its metadata. */
const strategy: Strategy = {
  validateName: nameIsDnsLabel,
  prepareForCreate(object) {
    dropUnknown(object);
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(clusterKeysFinalizer)) object.metadata.finalizers = [...finalizers, clusterKeysFinalizer];
  },
  prepareForUpdate: dropUnknown,
};

function dropUnknown(object: KubeObject): void {
  for (const field of Object.keys(object)) {
    if (!['kind', 'apiVersion', 'metadata'].includes(field)) delete object[field];
  }
}

export const logicalClusters = defineResource({
  ...clustersVersion,
  kind: 'LogicalCluster',
  plural: 'logicalclusters',
  namespaced: false,
  storagePrefix: `${clustersVersion.group}/logicalclusters`,
  strategy,
  table: {
    columns: [nameColumn, { name: 'Status', type: 'string', description: 'Active, or Terminating.' }, ageColumn],
    cells: ({ metadata }, { nowMs }) => [
      metadata.name ?? '',
      metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating',
      ageCell(metadata.creationTimestamp, nowMs),
    ],
  },
  subresources: { kubeconfig: { type: 'handled', verbs: ['create'], kind: kubeconfigRequest } },
});
