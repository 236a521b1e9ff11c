import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion } from '../../registry/definition/resource-definition.js';
import { defaultTable } from '../../registry/definition/table.js';
import { csiDriverStrategy } from './csi-driver.strategy.js';
import { csiDriverTable } from './csi-driver.table.js';
import { csiNodeStrategy } from './csi-node.strategy.js';
import { csiNodeTable } from './csi-node.table.js';
import { csiStorageCapacityStrategy } from './csi-storage-capacity.strategy.js';
import { storageClassStrategy } from './storage-class.strategy.js';
import { storageClassTable } from './storage-class.table.js';
import { volumeAttachmentStatusSubresource, volumeAttachmentStrategy } from './volume-attachment.strategy.js';
import { volumeAttachmentTable } from './volume-attachment.table.js';
import { volumeAttributesClassStrategy } from './volume-attributes-class.strategy.js';
import { volumeAttributesClassTable } from './volume-attributes-class.table.js';

export const storageGroup = (naming: NamingProfile): string => naming.group('storage');

export function storageResources(naming: NamingProfile) {
  const v1 = { group: storageGroup(naming), version: 'v1' };
  const volumeAttributesClasses = defineResource({
    ...v1,
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    namespaced: false,
    strategy: volumeAttributesClassStrategy,
    table: volumeAttributesClassTable(naming),
    returnsDeletedObject: true,
  });
  return {
    v1: [
      defineResource({
        ...v1,
        kind: 'CSIDriver',
        plural: 'csidrivers',
        namespaced: false,
        strategy: csiDriverStrategy,
        table: csiDriverTable,
        allowsUnconditionalUpdate: false,
        returnsDeletedObject: true,
      }),
      defineResource({
        ...v1,
        kind: 'CSINode',
        plural: 'csinodes',
        namespaced: false,
        strategy: csiNodeStrategy,
        table: csiNodeTable,
        allowsUnconditionalUpdate: false,
        returnsDeletedObject: true,
      }),
      defineResource({
        ...v1,
        kind: 'CSIStorageCapacity',
        plural: 'csistoragecapacities',
        namespaced: true,
        strategy: csiStorageCapacityStrategy,
        table: defaultTable,
        allowsUnconditionalUpdate: false,
      }),
      defineResource({
        ...v1,
        kind: 'StorageClass',
        plural: 'storageclasses',
        shortNames: ['sc'],
        namespaced: false,
        strategy: storageClassStrategy(naming),
        table: storageClassTable(naming),
        returnsDeletedObject: true,
      }),
      defineResource({
        ...v1,
        kind: 'VolumeAttachment',
        plural: 'volumeattachments',
        namespaced: false,
        strategy: volumeAttachmentStrategy,
        table: volumeAttachmentTable,
        subresources: { status: volumeAttachmentStatusSubresource },
        allowsUnconditionalUpdate: false,
        returnsDeletedObject: true,
      }),
      volumeAttributesClasses,
    ],
    v1beta1: [otherVersion(volumeAttributesClasses, { version: 'v1beta1' })],
  };
}
