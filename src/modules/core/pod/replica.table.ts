import { asFields, asNumber } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../../registry/definition/table.js';
import { selectorColumn, templateCells, templateColumns } from './template.cells.js';

/** What keeps a number of equal pods: replica sets, and the older replication controllers. */
export function replicaTable(selector: (object: KubeObject) => string): TableDefinition {
  return {
    columns: [
      nameColumn,
      { name: 'Desired', type: 'integer', description: 'How many pods there should be.' },
      { name: 'Current', type: 'integer', description: 'How many pods there are.' },
      { name: 'Ready', type: 'integer', description: 'How many of them are ready.' },
      ageColumn,
      ...templateColumns,
      selectorColumn,
    ],
    cells(object, { nowMs }) {
      const spec = asFields(object['spec']);
      const status = asFields(object['status']);
      return [
        object.metadata.name ?? '',
        asNumber(spec['replicas']),
        asNumber(status['replicas']),
        asNumber(status['readyReplicas']),
        ageCell(object.metadata.creationTimestamp, nowMs),
        ...templateCells(spec['template']),
        selector(object),
      ];
    },
  };
}
