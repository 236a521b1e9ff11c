import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const ageTable: TableDefinition = {
  columns: [nameColumn, ageColumn],
  cells: ({ metadata: { name, creationTimestamp } }, { nowMs }) => [name ?? '', ageCell(creationTimestamp, nowMs)],
};
