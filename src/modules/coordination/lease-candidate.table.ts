import type { LeaseCandidate } from '../../catalog/types/coordination.v1beta1.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const leaseCandidateTable: TableDefinition<LeaseCandidate> = {
  columns: [
    nameColumn,
    { name: 'LeaseName', type: 'string', description: 'Lease for which it is a candidate.' },
    { name: 'BinaryVersion', type: 'string', description: 'Version of the binary.' },
    { name: 'EmulationVersion', type: 'string', description: 'Version that the candidate emulates.' },
    { name: 'PingTime', type: 'string', description: 'Time at which the server last asked the candidate to renew.' },
    { name: 'RenewTime', type: 'string', description: 'Time at which the candidate last renewed.' },
    { name: 'Strategy', type: 'string', description: 'Strategy by which the holder is chosen.' },
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
