import { asFields } from '../../machinery/fields.js';
import type { TableDefinition } from '../../registry/definition/table.js';
import { labelsCell } from './cells.js';
import { replicaTable } from './pod/replica.table.js';

export const replicationControllerTable: TableDefinition = replicaTable((controller) =>
  labelsCell(asFields(controller['spec'])['selector']),
);
