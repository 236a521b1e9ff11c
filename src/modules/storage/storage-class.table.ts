import type { StorageClass } from '../../catalog/types/storage.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { classNameCell } from './default-class.js';

export function storageClassTable(naming: NamingProfile): TableDefinition<StorageClass> {
  const nameCell = classNameCell(naming, 'storageclass', 'storageclass.beta');
  return {
    columns: [
      nameColumn,
      { name: 'Provisioner', type: 'string', description: 'The provisioner that creates the volumes.' },
      { name: 'ReclaimPolicy', type: 'string', description: 'The policy for volumes whose claim is deleted.' },
      { name: 'VolumeBindingMode', type: 'string', description: 'The time at which volumes are created and bound.' },
      // A string column with boolean cells, as in kube-apiserver.
      { name: 'AllowVolumeExpansion', type: 'string', description: 'True if volumes can be expanded.' },
      ageColumn,
    ],
    cells: (storageClass, { nowMs }) => [
      nameCell(storageClass),
      storageClass.provisioner ?? '',
      storageClass.reclaimPolicy || 'Delete',
      storageClass.volumeBindingMode || '<unset>',
      storageClass.allowVolumeExpansion === true,
      ageCell(storageClass.metadata.creationTimestamp, nowMs),
    ],
  };
}
