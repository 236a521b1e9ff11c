import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const resourceSliceTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Node', type: 'string', description: 'The node whose devices they are, if it is one node.' },
    { name: 'Driver', type: 'string', description: 'The driver of the devices.' },
    { name: 'Pool', type: 'string', description: 'The pool that it is a part of.' },
    ageColumn,
  ],
  cells(slice, { nowMs }) {
    const spec = asFields(slice['spec']);
    return [
      slice.metadata.name ?? '',
      asText(spec['nodeName']),
      asText(spec['driver']),
      asText(asFields(spec['pool'])['name']),
      ageCell(slice.metadata.creationTimestamp, nowMs),
    ];
  },
};
