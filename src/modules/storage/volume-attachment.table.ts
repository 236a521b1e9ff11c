import { asFields, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const volumeAttachmentTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Attacher', type: 'string', format: 'name', description: 'The driver that attaches the volume.' },
    { name: 'PV', type: 'string', description: 'The volume that is attached.' },
    { name: 'Node', type: 'string', description: 'The node that it is attached to.' },
    { name: 'Attached', type: 'boolean', description: 'Whether it is attached.' },
    ageColumn,
  ],
  cells(attachment, { nowMs }) {
    const spec = asFields(attachment['spec']);
    return [
      attachment.metadata.name ?? '',
      asText(spec['attacher']),
      asText(asFields(spec['source'])['persistentVolumeName']),
      asText(spec['nodeName']),
      asFields(attachment['status'])['attached'] === true,
      ageCell(attachment.metadata.creationTimestamp, nowMs),
    ];
  },
};
