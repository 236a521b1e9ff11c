import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { amountOf } from './pod/pod-resources.js';

export const resourceQuotaTable: TableDefinition<ResourceQuota> = {
  columns: [
    nameColumn,
    { name: 'Request', type: 'string', description: 'Used and allowed amount of each request and object count.' },
    { name: 'Limit', type: 'string', description: 'Used and allowed amount of each limit.' },
    ageColumn,
  ],
  cells(quota, { nowMs }) {
    const { used = {}, hard = {} } = quota.status ?? {};
    const amounts = Object.entries(hard).sort(([a], [b]) => (a < b ? -1 : 1));
    const column = (isLimit: boolean) =>
      amounts
        .filter(([name]) => name.startsWith('limits') === isLimit)
        .map(([name, amount]) => `${name}: ${amountOf(used, name) || '0'}/${amount}`)
        .join(', ');
    return [quota.metadata.name ?? '', column(false), column(true), ageCell(quota.metadata.creationTimestamp, nowMs)];
  },
};
