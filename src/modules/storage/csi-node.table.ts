import { asFields, asItems } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const csiNodeTable: TableDefinition = {
  columns: [nameColumn, { name: 'Drivers', type: 'integer', description: 'How many drivers run there.' }, ageColumn],
  cells: (node, { nowMs }) => [
    node.metadata.name ?? '',
    asItems(asFields(node['spec'])['drivers']).length,
    ageCell(node.metadata.creationTimestamp, nowMs),
  ],
};
