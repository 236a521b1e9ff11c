import { asFields, asTexts } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const serviceCidrTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'CIDRs', type: 'string', description: 'The ranges that addresses of services are taken from.' },
    ageColumn,
  ],
  cells: (serviceCidr, { nowMs }) => [
    serviceCidr.metadata.name ?? '',
    asTexts(asFields(serviceCidr['spec'])['cidrs']).join(','),
    ageCell(serviceCidr.metadata.creationTimestamp, nowMs),
  ],
};
