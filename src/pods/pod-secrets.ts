import type { PodSpec, Volume } from '../catalog/types/core.v1.js';
import { containersOf } from './containers.js';

/** Returns the names of all Secrets that a Pod refers to. */
export function podSecretNames(spec: PodSpec): string[] {
  const names = [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(secretsOfVolume),
  ];
  return names.flatMap((name) => name || []);
}

function secretsOfVolume(volume: Volume): (string | undefined)[] {
  const { secret, azureFile, projected, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = volume;
  return [
    secret?.secretName,
    azureFile?.secretName,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name),
    csi?.nodePublishSecretRef?.name,
  ];
}
