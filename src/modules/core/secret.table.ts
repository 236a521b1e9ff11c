import type { Secret } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const secretTable: TableDefinition<Secret> = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'Type of the secret, which determines the keys of its data.' },
    { name: 'Data', type: 'string', description: 'Number of keys in the data.' },
    ageColumn,
  ],
  cells: (secret, { nowMs }) => [
    secret.metadata.name ?? '',
    secret.type ?? '',
    Object.keys(secret.data ?? {}).length,
    ageCell(secret.metadata.creationTimestamp, nowMs),
  ],
};
