import type { PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { defaultClassOf } from '../default-class.js';
import { isAbout } from '../matching.js';

/** Sets the default StorageClass on new claims without a class. storageClassName `""` means no class and is kept. */
export const defaultStorageClass = defineAdmissionPlugin({
  name: 'DefaultStorageClass',
  runs: 'by default',
  make({ objects, naming }) {
    const classes = { group: naming.group('storage'), resource: 'storageclasses' };
    const classAnnotation = naming.label('storage-class', 'volume.beta');
    const isDefault = [
      naming.label('is-default-class', 'storageclass'),
      naming.label('is-default-class', 'storageclass.beta'),
    ];
    return {
      resources: [{ group: '', resource: 'persistentvolumeclaims' }],
      actsOnUnchanged: () => false,
      admit(attributes) {
        if (!isAbout(attributes, '', 'persistentvolumeclaims', ['CREATE']) || !attributes.object) return;
        const claim: Mutable<PersistentVolumeClaim> = attributes.object;
        const spec = (claim.spec ??= {});
        if (spec.storageClassName !== undefined || claim.metadata.annotations?.[classAnnotation] !== undefined) return;
        const found = defaultClassOf(objects.list(classes, ''), isDefault);
        if (found) spec.storageClassName = found.metadata.name;
      },
    };
  },
});
