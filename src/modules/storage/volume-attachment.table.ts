import type { VolumeAttachment } from '../../catalog/types/storage.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const volumeAttachmentTable: TableDefinition<VolumeAttachment> = {
  columns: [
    nameColumn,
    { name: 'Attacher', type: 'string', format: 'name', description: 'The CSI driver that attaches the volume.' },
    { name: 'PV', type: 'string', description: 'The PersistentVolume.' },
    { name: 'Node', type: 'string', description: 'The node that the volume is attached to.' },
    { name: 'Attached', type: 'boolean', description: 'True if the volume is attached.' },
    ageColumn,
  ],
  cells: ({ metadata, spec = {}, status = {} }, { nowMs }) => [
    metadata.name ?? '',
    spec.attacher ?? '',
    spec.source?.persistentVolumeName ?? '',
    spec.nodeName ?? '',
    status.attached === true,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};
