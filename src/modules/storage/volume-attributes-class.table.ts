import type { VolumeAttributesClass } from '../../catalog/types/storage.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { classNameCell } from './default-class.js';

export function volumeAttributesClassTable(naming: NamingProfile): TableDefinition<VolumeAttributesClass> {
  const nameCell = classNameCell(naming, 'volumeattributesclass.alpha');
  return {
    columns: [
      nameColumn,
      { name: 'DriverName', type: 'string', description: 'The CSI driver that applies the parameters.' },
      ageColumn,
    ],
    cells: (attributesClass, { nowMs }) => [
      nameCell(attributesClass),
      attributesClass.driverName ?? '',
      ageCell(attributesClass.metadata.creationTimestamp, nowMs),
    ],
  };
}
