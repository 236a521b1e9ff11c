import type { NamingProfile } from '../../config/naming-profile.js';
import { asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { classNameCell } from './default-class.js';

export function storageClassTable(naming: NamingProfile): TableDefinition {
  const nameCell = classNameCell(naming, 'storageclass', 'storageclass.beta');
  return {
    columns: [
      nameColumn,
      { name: 'Provisioner', type: 'string', description: 'Who makes its volumes.' },
      { name: 'ReclaimPolicy', type: 'string', description: 'What becomes of a volume that was given back.' },
      { name: 'VolumeBindingMode', type: 'string', description: 'When volumes are made and bound.' },
      // Clients know the type of the column so, although its cells are booleans.
      { name: 'AllowVolumeExpansion', type: 'string', description: 'Whether its volumes can grow.' },
      ageColumn,
    ],
    cells: (storageClass, { nowMs }) => [
      nameCell(storageClass),
      asText(storageClass['provisioner']),
      asText(storageClass['reclaimPolicy']) || 'Delete',
      asText(storageClass['volumeBindingMode']) || '<unset>',
      storageClass['allowVolumeExpansion'] === true,
      ageCell(storageClass.metadata.creationTimestamp, nowMs),
    ],
  };
}
