import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { nothing, readAmount } from '../amounts.js';
import { isAbout } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { forbid } from '../refusal.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** A claim may grow where its class says that its volumes can. */
export function persistentVolumeClaimResize({ objects, naming }: Parts): AdmissionPlugin {
  const classes = { group: naming.group('storage'), resource: 'storageclasses' };
  const ownClass = naming.label('storage-class', 'volume.beta');
  const classOf = (claim: KubeObject) =>
    claim.metadata.annotations?.[ownClass] ?? asText(asFields(claim['spec'])['storageClassName']);
  return {
    name: 'PersistentVolumeClaimResize',
    async validate(attributes) {
      const { object, old } = attributes;
      if (!isAbout(attributes, '', 'persistentvolumeclaims', ['UPDATE']) || !object || !old) return;
      if (requestedStorage(object).compare(requestedStorage(old)) <= 0) return;
      if (asFields(old['status'])['phase'] !== 'Bound') {
        throw forbid(attributes, 'Only bound persistent volume claims can be expanded');
      }
      const name = classOf(object);
      const found =
        name !== '' && name === classOf(old)
          ? await find(objects, classes, '', name, attributes.request.signal)
          : undefined;
      if (found?.['allowVolumeExpansion'] === true) return;
      throw forbid(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

function requestedStorage(claim: KubeObject) {
  const { requests } = asFields(asFields(claim['spec'])['resources']);
  return readAmount(asFields(requests)['storage']) ?? nothing;
}
