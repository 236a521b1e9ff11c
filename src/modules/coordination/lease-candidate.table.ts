import type { LeaseCandidate } from '../../catalog/types/coordination.v1beta1.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const leaseCandidateTable: TableDefinition<LeaseCandidate> = {
  columns: [
    nameColumn,
    { name: 'LeaseName', type: 'string', description: 'The lease that it stands for.' },
    { name: 'BinaryVersion', type: 'string', description: 'The version that it is.' },
    { name: 'EmulationVersion', type: 'string', description: 'The version that it behaves as.' },
    { name: 'PingTime', type: 'string', description: 'When it was last asked whether it is there.' },
    { name: 'RenewTime', type: 'string', description: 'When it last said that it is.' },
    { name: 'Strategy', type: 'string', description: 'How the holder should be chosen.' },
  ],
  cells: ({ metadata, spec = {} }) => [
    metadata.name ?? '',
    spec.leaseName ?? '',
    spec.binaryVersion ?? '',
    spec.emulationVersion ?? '',
    orNone(spec.pingTime ?? ''),
    orNone(spec.renewTime ?? ''),
    spec.strategy ?? '',
  ],
};
