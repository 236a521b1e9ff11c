import type { Namespace } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const namespaceTable: TableDefinition<Namespace> = {
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Active, or Terminating while the namespace is being deleted.' },
    ageColumn,
  ],
  cells: (namespace, { nowMs }) => [
    namespace.metadata.name ?? '',
    namespace.status?.phase ?? '',
    ageCell(namespace.metadata.creationTimestamp, nowMs),
  ],
};
