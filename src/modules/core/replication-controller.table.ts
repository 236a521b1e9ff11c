import type { ReplicationController } from '../../catalog/types/core.v1.js';
import { labelsCell } from './cells.js';
import { replicaTable } from './pod/replica.table.js';

export const replicationControllerTable = replicaTable<ReplicationController>(({ spec }) => labelsCell(spec?.selector));
