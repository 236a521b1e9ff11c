import type { PodDisruptionBudget } from '../../catalog/types/policy.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

const amountCell = (amount: number | string | undefined): string => (amount === undefined ? 'N/A' : String(amount));

export const podDisruptionBudgetTable: TableDefinition<PodDisruptionBudget> = {
  columns: [
    nameColumn,
    { name: 'Min Available', type: 'string', description: 'Number or percentage of Pods that must stay available.' },
    { name: 'Max Unavailable', type: 'string', description: 'Number or percentage of Pods that may be unavailable.' },
    { name: 'Allowed Disruptions', type: 'integer', description: 'Number of Pods that may be evicted now.' },
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { nowMs }) => [
    metadata.name ?? '',
    amountCell(spec?.minAvailable),
    amountCell(spec?.maxUnavailable),
    status?.disruptionsAllowed ?? 0,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};
