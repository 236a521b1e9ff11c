import { asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/table.js';

export const runtimeClassTable: TableDefinition = {
  columns: [nameColumn, { name: 'Handler', type: 'string', description: '' }, ageColumn],
  cells: (runtimeClass, { nowMs }) => [
    runtimeClass.metadata.name ?? '',
    asText(runtimeClass['handler']),
    ageCell(runtimeClass.metadata.creationTimestamp, nowMs),
  ],
};
