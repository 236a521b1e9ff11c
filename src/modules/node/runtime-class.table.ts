import type { RuntimeClass } from '../../catalog/types/node.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const runtimeClassTable: TableDefinition<RuntimeClass> = {
  columns: [nameColumn, { name: 'Handler', type: 'string', description: '' }, ageColumn],
  cells: (runtimeClass, { nowMs }) => [
    runtimeClass.metadata.name ?? '',
    runtimeClass.handler ?? '',
    ageCell(runtimeClass.metadata.creationTimestamp, nowMs),
  ],
};
