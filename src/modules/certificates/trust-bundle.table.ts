import { asFields, asText } from '../../machinery/fields.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const trustBundleTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'SignerName', type: 'string', description: 'The signer whose certificates it is for.' },
  ],
  cells: (bundle) => [bundle.metadata.name ?? '', orNone(asText(asFields(bundle['spec'])['signerName']))],
};
