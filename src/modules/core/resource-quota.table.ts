import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const resourceQuotaTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Request', type: 'string', description: 'What is asked for, of what may be.' },
    { name: 'Limit', type: 'string', description: 'To how much it is limited, of what may be.' },
    ageColumn,
  ],
  cells(quota, { nowMs }) {
    const status = asFields(quota['status']);
    const used = asFields(status['used']);
    const hard = Object.entries(asFields(status['hard'])).sort(([a], [b]) => (a < b ? -1 : 1));
    const column = (isLimit: boolean) =>
      hard
        .filter(([name]) => name.startsWith('limits') === isLimit)
        .map(([name, amount]) => `${name}: ${asText(used[name]) || '0'}/${asText(amount)}`)
        .join(', ');
    return [quota.metadata.name ?? '', column(false), column(true), ageCell(quota.metadata.creationTimestamp, nowMs)];
  },
};
