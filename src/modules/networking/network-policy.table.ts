import { asFields } from '../../machinery/fields.js';
import { labelSelectorOf } from '../../machinery/label-selector.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const networkPolicyTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Pod-Selector', type: 'string', description: 'The labels of the pods that it is about.' },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => [
    policy.metadata.name ?? '',
    selectorCell(asFields(policy['spec'])['podSelector']),
    ageCell(policy.metadata.creationTimestamp, nowMs),
  ],
};

function selectorCell(selector: unknown): string {
  try {
    return orNone(String(labelSelectorOf(asFields(selector))));
  } catch {
    return '<error>';
  }
}
