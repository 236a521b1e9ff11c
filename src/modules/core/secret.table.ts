import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const secretTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'What its data is for.' },
    { name: 'Data', type: 'string', description: 'How many keys it holds.' },
    ageColumn,
  ],
  cells: (secret, { nowMs }) => [
    secret.metadata.name ?? '',
    asText(secret['type']),
    Object.keys(asFields(secret['data'])).length,
    ageCell(secret.metadata.creationTimestamp, nowMs),
  ],
};
