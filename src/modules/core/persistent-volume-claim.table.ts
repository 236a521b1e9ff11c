import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText, isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { accessModesCell, orUnset, storageClassOf, volumePhase } from './volume.cells.js';

export function persistentVolumeClaimTable(naming: NamingProfile): TableDefinition {
  const classOf = storageClassOf(naming);
  return {
    columns: [
      nameColumn,
      { name: 'Status', type: 'string', description: 'Whether it has a volume.' },
      { name: 'Volume', type: 'string', description: 'The volume it is bound to.' },
      { name: 'Capacity', type: 'string', description: 'How much that volume holds.' },
      { name: 'Access Modes', type: 'string', description: 'From where that volume can be mounted.' },
      { name: 'StorageClass', type: 'string', description: 'The class it asks for.' },
      { name: 'VolumeAttributesClass', type: 'string', description: 'The class of mutable attributes it asks for.' },
      ageColumn,
      { name: 'VolumeMode', type: 'string', priority: 1, description: 'A file system, or a raw block device.' },
    ],
    cells(claim, { nowMs }) {
      const spec = asFields(claim['spec']);
      const status = asFields(claim['status']);
      const volume = asText(spec['volumeName']);
      const capacity = asFields(status['capacity'])['storage'];
      return [
        claim.metadata.name ?? '',
        volumePhase(claim),
        volume,
        volume === '' ? '' : isSet(capacity) ? String(capacity) : '0',
        volume === '' ? '' : accessModesCell(status['accessModes']),
        classOf(claim),
        orUnset(asText(spec['volumeAttributesClassName'])),
        ageCell(claim.metadata.creationTimestamp, nowMs),
        orUnset(asText(spec['volumeMode'])),
      ];
    },
  };
}
