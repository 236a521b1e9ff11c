import type { ConfigMap } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const configMapTable: TableDefinition<ConfigMap> = {
  columns: [
    nameColumn,
    { name: 'Data', type: 'string', description: 'Number of keys in data and binaryData.' },
    ageColumn,
  ],
  cells: ({ metadata, data = {}, binaryData = {} }, { nowMs }) => [
    metadata.name ?? '',
    Object.keys(data).length + Object.keys(binaryData).length,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};
