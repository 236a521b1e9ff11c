import type { PriorityClass } from '../../catalog/types/scheduling.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const priorityClassTable: TableDefinition<PriorityClass> = {
  columns: [
    nameColumn,
    { name: 'Value', type: 'integer', description: 'Priority of Pods of this class.' },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'True if this is the class of Pods without a priorityClassName.',
    },
    ageColumn,
    {
      name: 'PreemptionPolicy',
      type: 'string',
      description: 'Preemption of other Pods by Pods of this class: Never or PreemptLowerPriority.',
    },
  ],
  cells: (priorityClass, { nowMs }) => [
    priorityClass.metadata.name ?? '',
    priorityClass.value ?? 0,
    priorityClass.globalDefault ?? false,
    ageCell(priorityClass.metadata.creationTimestamp, nowMs),
    priorityClass.preemptionPolicy ?? '',
  ],
};
