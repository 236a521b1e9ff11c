import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText, isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { accessModesCell, orUnset, storageClassOf, volumePhase } from './volume.cells.js';

export function persistentVolumeTable(naming: NamingProfile): TableDefinition {
  const classOf = storageClassOf(naming);
  return {
    columns: [
      nameColumn,
      { name: 'Capacity', type: 'string', description: 'How much it holds.' },
      { name: 'Access Modes', type: 'string', description: 'From where it can be mounted.' },
      { name: 'Reclaim Policy', type: 'string', description: 'What becomes of it when its claim goes.' },
      { name: 'Status', type: 'string', description: 'Whether it is free, bound or released.' },
      { name: 'Claim', type: 'string', description: 'The claim it is bound to.' },
      { name: 'StorageClass', type: 'string', description: 'The class it belongs to.' },
      { name: 'VolumeAttributesClass', type: 'string', description: 'The class of its mutable attributes.' },
      { name: 'Reason', type: 'string', description: 'Why it is in this state.' },
      ageColumn,
      { name: 'VolumeMode', type: 'string', priority: 1, description: 'A file system, or a raw block device.' },
    ],
    cells(volume, { nowMs }) {
      const spec = asFields(volume['spec']);
      const claim = asFields(spec['claimRef']);
      const capacity = asFields(spec['capacity'])['storage'];
      return [
        volume.metadata.name ?? '',
        isSet(capacity) ? String(capacity) : '0',
        accessModesCell(spec['accessModes']),
        asText(spec['persistentVolumeReclaimPolicy']),
        volumePhase(volume),
        isSet(spec['claimRef']) ? `${asText(claim['namespace'])}/${asText(claim['name'])}` : '',
        classOf(volume),
        orUnset(asText(spec['volumeAttributesClassName'])),
        asText(asFields(volume['status'])['reason']),
        ageCell(volume.metadata.creationTimestamp, nowMs),
        orUnset(asText(spec['volumeMode'])),
      ];
    },
  };
}
