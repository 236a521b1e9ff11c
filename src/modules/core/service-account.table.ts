import type { ServiceAccount } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const serviceAccountTable: TableDefinition<ServiceAccount> = {
  columns: [nameColumn, ageColumn],
  cells: (account, { nowMs }) => [account.metadata.name ?? '', ageCell(account.metadata.creationTimestamp, nowMs)],
};
