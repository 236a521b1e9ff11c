import type { ReplicaSet } from '../../../catalog/types/apps.v1.js';
import type { ReplicationController } from '../../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../../registry/definition/table.js';
import { selectorColumn, templateCells, templateColumns } from './template.cells.js';

/** Returns the table of ReplicaSets or of ReplicationControllers, whose selectors differ. */
export function replicaTable<T extends ReplicaSet | ReplicationController>(
  selectorCell: (object: T) => string,
): TableDefinition<T> {
  return {
    columns: [
      nameColumn,
      { name: 'Desired', type: 'integer', description: 'Number of Pods that should exist.' },
      { name: 'Current', type: 'integer', description: 'Number of Pods that exist.' },
      { name: 'Ready', type: 'integer', description: 'Number of Pods that are ready.' },
      ageColumn,
      ...templateColumns,
      selectorColumn,
    ],
    cells(object, { nowMs }) {
      const { metadata, spec = {}, status = {} } = object;
      return [
        metadata.name ?? '',
        spec.replicas ?? 0,
        status.replicas ?? 0,
        status.readyReplicas ?? 0,
        ageCell(metadata.creationTimestamp, nowMs),
        ...templateCells(spec.template),
        selectorCell(object),
      ];
    },
  };
}
