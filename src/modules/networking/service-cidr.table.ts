import type { ServiceCIDR } from '../../catalog/types/networking.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const serviceCidrTable: TableDefinition<ServiceCIDR> = {
  columns: [
    nameColumn,
    { name: 'CIDRs', type: 'string', description: 'CIDRs that cluster IPs are allocated from.' },
    ageColumn,
  ],
  cells: (serviceCidr, { nowMs }) => [
    serviceCidr.metadata.name ?? '',
    (serviceCidr.spec?.cidrs ?? []).join(','),
    ageCell(serviceCidr.metadata.creationTimestamp, nowMs),
  ],
};
