import { asFields } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const configMapTable: TableDefinition = {
  columns: [nameColumn, { name: 'Data', type: 'string', description: 'How many keys it holds.' }, ageColumn],
  cells: (configMap, { nowMs }) => [
    configMap.metadata.name ?? '',
    Object.keys(asFields(configMap['data'])).length + Object.keys(asFields(configMap['binaryData'])).length,
    ageCell(configMap.metadata.creationTimestamp, nowMs),
  ],
};
