import type { NamingProfile } from '../../config/naming-profile.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

/** Claims, volumes and attribute classes stay until nobody uses them any more: their reconciler takes the finalizer off. */
export function storageObjectInUseProtection({ naming }: { readonly naming: NamingProfile }): AdmissionPlugin {
  const protections = [
    { group: '', resource: 'persistentvolumeclaims', finalizer: naming.label('pvc-protection') },
    { group: '', resource: 'persistentvolumes', finalizer: naming.label('pv-protection') },
    { group: naming.group('storage'), resource: 'volumeattributesclasses', finalizer: naming.label('vac-protection') },
  ];
  return {
    name: 'StorageObjectInUseProtection',
    admit(attributes) {
      const protection = protections.find(({ group, resource }) => isAbout(attributes, group, resource, ['CREATE']));
      if (!protection || !attributes.object) return;
      const { metadata } = attributes.object;
      const finalizers = metadata.finalizers ?? [];
      if (!finalizers.includes(protection.finalizer)) metadata.finalizers = [...finalizers, protection.finalizer];
    },
  };
}
