import type { PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { StorageClass } from '../../catalog/types/storage.v1.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { parseAmount, zero } from '../amounts.js';
import { isAbout } from '../matching.js';
import { find } from '../object-reader.js';
import { forbid } from '../refusal.js';

/** Refuses to expand a claim that is not bound, or whose StorageClass does not allow volume expansion. */
export const persistentVolumeClaimResize = defineAdmissionPlugin({
  name: 'PersistentVolumeClaimResize',
  runs: 'by default',
  make({ objects, naming }) {
    const classes = { group: naming.group('storage'), resource: 'storageclasses' };
    const classAnnotation = naming.label('storage-class', 'volume.beta');
    const classOf = ({ metadata, spec }: PersistentVolumeClaim) =>
      metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';
    return {
      resources: [{ group: '', resource: 'persistentvolumeclaims' }],
      actsOnUnchanged: () => false,
      async validate(attributes) {
        if (!isAbout(attributes, '', 'persistentvolumeclaims', ['UPDATE'])) return;
        const claim: PersistentVolumeClaim | undefined = attributes.object;
        const old: PersistentVolumeClaim | undefined = attributes.old;
        if (!claim || !old || requestedStorage(claim).compare(requestedStorage(old)) <= 0) return;
        if (old.status?.phase !== 'Bound') {
          throw forbid(attributes, 'Only bound persistent volume claims can be expanded');
        }
        const name = classOf(claim);
        const found: StorageClass | undefined =
          name !== '' && name === classOf(old)
            ? await find(objects, classes, '', name, attributes.request.signal)
            : undefined;
        if (found?.allowVolumeExpansion === true) return;
        throw forbid(
          attributes,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
      },
    };
  },
});

function requestedStorage({ spec }: PersistentVolumeClaim) {
  return parseAmount(spec?.resources?.requests?.['storage']) ?? zero;
}
