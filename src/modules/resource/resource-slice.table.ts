import type { ResourceSlice } from '../../catalog/types/resource.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const resourceSliceTable: TableDefinition<ResourceSlice> = {
  columns: [
    nameColumn,
    { name: 'Node', type: 'string', description: 'The node with access to the devices, if spec.nodeName is set.' },
    { name: 'Driver', type: 'string', description: 'The DRA driver that provides the devices.' },
    { name: 'Pool', type: 'string', description: 'The pool that the devices belong to.' },
    ageColumn,
  ],
  cells: ({ metadata, spec = {} }, { nowMs }) => [
    metadata.name ?? '',
    spec.nodeName ?? '',
    spec.driver ?? '',
    spec.pool?.name ?? '',
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};
