import { asNumber, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/table.js';

export const priorityClassTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Value', type: 'integer', description: 'The priority of pods of this class.' },
    { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class have it.' },
    ageColumn,
    { name: 'PreemptionPolicy', type: 'string', description: 'Whether its pods drive out others.' },
  ],
  cells: (priorityClass, { nowMs }) => [
    priorityClass.metadata.name ?? '',
    asNumber(priorityClass['value']),
    priorityClass['globalDefault'] === true,
    ageCell(priorityClass.metadata.creationTimestamp, nowMs),
    asText(priorityClass['preemptionPolicy']),
  ],
};
