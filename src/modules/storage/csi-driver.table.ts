import type { CSIDriver } from '../../catalog/types/storage.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const csiDriverTable: TableDefinition<CSIDriver> = {
  columns: [
    nameColumn,
    { name: 'AttachRequired', type: 'boolean', description: 'True if volumes are attached before they are mounted.' },
    { name: 'PodInfoOnMount', type: 'boolean', description: 'True if mounts pass information about the Pod.' },
    { name: 'StorageCapacity', type: 'boolean', description: 'True if Pods are scheduled by the free capacity.' },
    { name: 'TokenRequests', type: 'string', description: 'The audiences of the service account tokens for mounts.' },
    { name: 'RequiresRepublish', type: 'boolean', description: 'True if mounted volumes are published periodically.' },
    { name: 'Modes', type: 'string', description: 'The supported volume lifecycle modes.' },
    ageColumn,
  ],
  cells({ metadata, spec = {} }, { nowMs }) {
    const { tokenRequests = [], volumeLifecycleModes = [] } = spec;
    return [
      metadata.name ?? '',
      spec.attachRequired !== false,
      spec.podInfoOnMount === true,
      spec.storageCapacity === true,
      tokenRequests.length === 0 ? '<unset>' : tokenRequests.map(({ audience = '' }) => audience).join(','),
      spec.requiresRepublish === true,
      volumeLifecycleModes.join(',') || '<none>',
      ageCell(metadata.creationTimestamp, nowMs),
    ];
  },
};
