import type { FlowSchema } from '../../catalog/types/flowcontrol.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const flowSchemaTable: TableDefinition<FlowSchema> = {
  columns: [
    nameColumn,
    { name: 'PriorityLevel', type: 'string', description: 'Priority level of its requests.' },
    {
      name: 'MatchingPrecedence',
      type: 'string',
      description: 'Order of FlowSchemas: the matching one with the lowest number applies.',
    },
    {
      name: 'DistinguisherMethod',
      type: 'string',
      description: 'Attribute that divides its requests into flows: ByUser or ByNamespace.',
    },
    ageColumn,
    { name: 'MissingPL', type: 'string', description: 'True if its priority level does not exist.' },
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
