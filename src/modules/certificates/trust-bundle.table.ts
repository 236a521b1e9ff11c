import type { ClusterTrustBundle } from '../../catalog/types/certificates.v1beta1.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const trustBundleTable: TableDefinition<ClusterTrustBundle> = {
  columns: [
    nameColumn,
    { name: 'SignerName', type: 'string', description: 'The signer whose certificates the bundle verifies.' },
  ],
  cells: (bundle) => [bundle.metadata.name ?? '', orNone(bundle.spec?.signerName ?? '')],
};
