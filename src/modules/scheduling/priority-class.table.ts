import type { PriorityClass } from '../../catalog/types/scheduling.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const priorityClassTable: TableDefinition<PriorityClass> = {
  columns: [
    nameColumn,
    { name: 'Value', type: 'integer', description: 'The priority of pods of this class.' },
    { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class have it.' },
    ageColumn,
    { name: 'PreemptionPolicy', type: 'string', description: 'Whether its pods drive out others.' },
  ],
  cells: (priorityClass, { nowMs }) => [
    priorityClass.metadata.name ?? '',
    priorityClass.value ?? 0,
    priorityClass.globalDefault ?? false,
    ageCell(priorityClass.metadata.creationTimestamp, nowMs),
    priorityClass.preemptionPolicy ?? '',
  ],
};
