import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/table.js';

export const leaseTable: TableDefinition = {
  columns: [nameColumn, { name: 'Holder', type: 'string', description: 'Who holds it.' }, ageColumn],
  cells: (lease, { nowMs }) => [
    lease.metadata.name ?? '',
    asText(asFields(lease['spec'])['holderIdentity']),
    ageCell(lease.metadata.creationTimestamp, nowMs),
  ],
};
