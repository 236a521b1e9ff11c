import type { FlowSchema } from '../../catalog/types/flowcontrol.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const flowSchemaTable: TableDefinition<FlowSchema> = {
  columns: [
    nameColumn,
    { name: 'PriorityLevel', type: 'string', description: 'The priority level that its requests go to.' },
    { name: 'MatchingPrecedence', type: 'string', description: 'Schemas with a lower number are tried first.' },
    { name: 'DistinguisherMethod', type: 'string', description: 'What tells flows within it apart.' },
    ageColumn,
    { name: 'MissingPL', type: 'string', description: 'Whether its priority level does not exist.' },
  ],
  cells({ metadata, spec = {}, status }, { nowMs }) {
    const { distinguisherMethod } = spec;
    const dangling = status?.conditions?.find(({ type }) => type === 'Dangling');
    return [
      metadata.name ?? '',
      spec.priorityLevelConfiguration?.name ?? '',
      spec.matchingPrecedence ?? 0,
      distinguisherMethod ? (distinguisherMethod.type ?? '') : '<none>',
      ageCell(metadata.creationTimestamp, nowMs),
      dangling ? (dangling.status ?? '') : '?',
    ];
  },
};
