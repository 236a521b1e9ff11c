import type { NamingProfile } from '../../config/naming-profile.js';
import { asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { classNameCell } from './default-class.js';

export function volumeAttributesClassTable(naming: NamingProfile): TableDefinition {
  const nameCell = classNameCell(naming, 'volumeattributesclass.alpha');
  return {
    columns: [
      nameColumn,
      { name: 'DriverName', type: 'string', description: 'The CSI driver that it is for.' },
      ageColumn,
    ],
    cells: (attributesClass, { nowMs }) => [
      nameCell(attributesClass),
      asText(attributesClass['driverName']),
      ageCell(attributesClass.metadata.creationTimestamp, nowMs),
    ],
  };
}
