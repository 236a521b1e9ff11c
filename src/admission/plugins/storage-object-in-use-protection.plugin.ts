import {
  attributesClassProtectionFinalizer,
  claimProtectionFinalizer,
  volumeProtectionFinalizer,
} from '../../machinery/finalizers.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

/**
 * Adds the protection finalizer to new claims, volumes and VolumeAttributesClasses. Reconcilers remove it when the object
 * is being deleted and not in use.
 */
export const storageObjectInUseProtection = defineAdmissionPlugin({
  name: 'StorageObjectInUseProtection',
  runs: 'by default',
  make({ naming }) {
    const protections = [
      { group: '', resource: 'persistentvolumeclaims', finalizer: claimProtectionFinalizer(naming) },
      { group: '', resource: 'persistentvolumes', finalizer: volumeProtectionFinalizer(naming) },
      {
        group: naming.group('storage'),
        resource: 'volumeattributesclasses',
        finalizer: attributesClassProtectionFinalizer(naming),
      },
    ];
    return {
      resources: protections,
      actsOnUnchanged: () => false,
      admit(attributes) {
        const protection = protections.find(({ group, resource }) => isAbout(attributes, group, resource, ['CREATE']));
        if (!protection || !attributes.object) return;
        const { metadata } = attributes.object;
        const finalizers = metadata.finalizers ?? [];
        if (!finalizers.includes(protection.finalizer)) metadata.finalizers = [...finalizers, protection.finalizer];
      },
    };
  },
});
