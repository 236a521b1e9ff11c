import type { RuntimeClass } from '../../catalog/types/node.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const runtimeClassTable: TableDefinition<RuntimeClass> = {
  columns: [
    nameColumn,
    {
      name: 'Handler',
      type: 'string',
      description: 'Handler of the container runtime that runs the Pods of this class.',
    },
    ageColumn,
  ],
  cells: (runtimeClass, { nowMs }) => [
    runtimeClass.metadata.name ?? '',
    runtimeClass.handler ?? '',
    ageCell(runtimeClass.metadata.creationTimestamp, nowMs),
  ],
};
