import type { PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { accessModesCell, orUnset, storageClassOf, volumePhase } from './volume.cells.js';

export function persistentVolumeClaimTable(naming: NamingProfile): TableDefinition<PersistentVolumeClaim> {
  const classOf = storageClassOf(naming);
  return {
    columns: [
      nameColumn,
      {
        name: 'Status',
        type: 'string',
        description: 'Pending, Bound, Lost, or Terminating while the claim is being deleted.',
      },
      { name: 'Volume', type: 'string', description: 'PersistentVolume that the claim is bound to.' },
      { name: 'Capacity', type: 'string', description: 'Capacity of that volume.' },
      { name: 'Access Modes', type: 'string', description: 'Access modes of that volume.' },
      { name: 'StorageClass', type: 'string', description: 'StorageClass of the claim.' },
      { name: 'VolumeAttributesClass', type: 'string', description: 'VolumeAttributesClass of the claim.' },
      ageColumn,
      { name: 'VolumeMode', type: 'string', priority: 1, description: 'Filesystem or Block.' },
    ],
    cells(claim, { nowMs }) {
      const { volumeName: volume = '', volumeAttributesClassName = '', volumeMode = '' } = claim.spec ?? {};
      const { capacity, accessModes } = claim.status ?? {};
      return [
        claim.metadata.name ?? '',
        volumePhase(claim),
        volume,
        volume === '' ? '' : (capacity?.['storage'] ?? '0'),
        volume === '' ? '' : accessModesCell(accessModes),
        classOf(claim),
        orUnset(volumeAttributesClassName),
        ageCell(claim.metadata.creationTimestamp, nowMs),
        orUnset(volumeMode),
      ];
    },
  };
}
