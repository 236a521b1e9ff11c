import type { Lease } from '../../catalog/types/coordination.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const leaseTable: TableDefinition<Lease> = {
  columns: [nameColumn, { name: 'Holder', type: 'string', description: 'Identity of the holder.' }, ageColumn],
  cells: (lease, { nowMs }) => [
    lease.metadata.name ?? '',
    lease.spec?.holderIdentity ?? '',
    ageCell(lease.metadata.creationTimestamp, nowMs),
  ],
};
