import type { CSINode } from '../../catalog/types/storage.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const csiNodeTable: TableDefinition<CSINode> = {
  columns: [nameColumn, { name: 'Drivers', type: 'integer', description: 'The number of CSI drivers.' }, ageColumn],
  cells: ({ metadata, spec }, { nowMs }) => [
    metadata.name ?? '',
    (spec?.drivers ?? []).length,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};
