import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const namespaceTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Active, or Terminating once it is being deleted.' },
    ageColumn,
  ],
  cells: (namespace, { nowMs }) => [
    namespace.metadata.name ?? '',
    asText(asFields(namespace['status'])['phase']),
    ageCell(namespace.metadata.creationTimestamp, nowMs),
  ],
};
