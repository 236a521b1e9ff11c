import { asFields, asItems, asNumber, asText, isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const flowSchemaTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'PriorityLevel', type: 'string', description: 'The priority level that its requests go to.' },
    { name: 'MatchingPrecedence', type: 'string', description: 'Schemas with a lower number are tried first.' },
    { name: 'DistinguisherMethod', type: 'string', description: 'What tells flows within it apart.' },
    ageColumn,
    { name: 'MissingPL', type: 'string', description: 'Whether its priority level does not exist.' },
  ],
  cells(schema, { nowMs }) {
    const spec = asFields(schema['spec']);
    const method = spec['distinguisherMethod'];
    const dangling = asItems(asFields(schema['status'])['conditions']).find(({ type }) => type === 'Dangling');
    return [
      schema.metadata.name ?? '',
      asText(asFields(spec['priorityLevelConfiguration'])['name']),
      asNumber(spec['matchingPrecedence']),
      isSet(method) ? asText(asFields(method)['type']) : '<none>',
      ageCell(schema.metadata.creationTimestamp, nowMs),
      dangling ? asText(dangling['status']) : '?',
    ];
  },
};
