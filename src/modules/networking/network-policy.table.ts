import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import type { NetworkPolicy } from '../../catalog/types/networking.v1.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const networkPolicyTable: TableDefinition<NetworkPolicy> = {
  columns: [
    nameColumn,
    { name: 'Pod-Selector', type: 'string', description: 'Labels of the pods that the policy applies to.' },
    ageColumn,
  ],
  cells: (policy, { nowMs }) => [
    policy.metadata.name ?? '',
    selectorCell(policy.spec?.podSelector),
    ageCell(policy.metadata.creationTimestamp, nowMs),
  ],
};

function selectorCell(selector: LabelSelector = {}): string {
  try {
    return orNone(String(labelSelectorOf(selector)));
  } catch {
    return '<error>';
  }
}
