import { asFields, asNumber, isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

const amountCell = (amount: unknown): string => {
  if (!isSet(amount)) return 'N/A';
  return typeof amount === 'string' ? amount : String(asNumber(amount));
};

export const podDisruptionBudgetTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Min Available', type: 'string', description: 'How many pods must stay.' },
    { name: 'Max Unavailable', type: 'string', description: 'How many pods may be away.' },
    { name: 'Allowed Disruptions', type: 'integer', description: 'How many pods may be evicted now.' },
    ageColumn,
  ],
  cells(budget, { nowMs }) {
    const spec = asFields(budget['spec']);
    return [
      budget.metadata.name ?? '',
      amountCell(spec['minAvailable']),
      amountCell(spec['maxUnavailable']),
      asNumber(asFields(budget['status'])['disruptionsAllowed']),
      ageCell(budget.metadata.creationTimestamp, nowMs),
    ];
  },
};
