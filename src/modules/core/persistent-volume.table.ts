import type { PersistentVolume } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { accessModesCell, orUnset, storageClassOf, volumePhase } from './volume.cells.js';

export function persistentVolumeTable(naming: NamingProfile): TableDefinition<PersistentVolume> {
  const classOf = storageClassOf(naming);
  return {
    columns: [
      nameColumn,
      { name: 'Capacity', type: 'string', description: 'Capacity of the volume.' },
      { name: 'Access Modes', type: 'string', description: 'Access modes of the volume.' },
      { name: 'Reclaim Policy', type: 'string', description: 'Retain, Delete or Recycle, after the claim is deleted.' },
      {
        name: 'Status',
        type: 'string',
        description: 'Pending, Available, Bound, Released, Failed, or Terminating while it is being deleted.',
      },
      { name: 'Claim', type: 'string', description: 'PersistentVolumeClaim that the volume is bound to.' },
      { name: 'StorageClass', type: 'string', description: 'StorageClass of the volume.' },
      { name: 'VolumeAttributesClass', type: 'string', description: 'VolumeAttributesClass of the volume.' },
      { name: 'Reason', type: 'string', description: 'Reason of the status.' },
      ageColumn,
      { name: 'VolumeMode', type: 'string', priority: 1, description: 'Filesystem or Block.' },
    ],
    cells(volume, { nowMs }) {
      const { spec = {}, status = {} } = volume;
      const { capacity, claimRef: claim } = spec;
      return [
        volume.metadata.name ?? '',
        capacity?.['storage'] ?? '0',
        accessModesCell(spec.accessModes),
        spec.persistentVolumeReclaimPolicy ?? '',
        volumePhase(volume),
        claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
        classOf(volume),
        orUnset(spec.volumeAttributesClassName ?? ''),
        status.reason ?? '',
        ageCell(volume.metadata.creationTimestamp, nowMs),
        orUnset(spec.volumeMode ?? ''),
      ];
    },
  };
}
