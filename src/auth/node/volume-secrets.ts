import type { PersistentVolumeSpec, SecretReference } from '../../catalog/types/core.v1.js';

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the Secrets of a PersistentVolume that a node needs. Those of the CSI controller are not among them. */
export function volumeSecrets(spec: PersistentVolumeSpec): SecretName[] {
  const { claimRef, azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec;
  const references: readonly (SecretReference | null | undefined)[] = [
    azureFile && { namespace: azureFile.secretNamespace ?? '', name: azureFile.secretName },
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef),
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  return references.flatMap((reference) =>
    reference?.name ? { namespace: reference.namespace || (claimRef?.namespace ?? ''), name: reference.name } : [],
  );
}
