import type { NamingProfile } from '../../config/naming-profile.js';
import { isSet, makeFields } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { defaultClassOf } from '../default-class.js';
import { isAbout } from '../matching.js';
import type { ObjectReader } from '../object-reader.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** A claim that names no class gets the default one; `""` is a name, that of no class. */
export function defaultStorageClass({ objects, naming }: Parts): AdmissionPlugin {
  const classes = { group: naming.group('storage'), resource: 'storageclasses' };
  const ownClass = naming.label('storage-class', 'volume.beta');
  const isDefault = [
    naming.label('is-default-class', 'storageclass'),
    naming.label('is-default-class', 'storageclass.beta'),
  ];
  return {
    name: 'DefaultStorageClass',
    admit(attributes) {
      if (!isAbout(attributes, '', 'persistentvolumeclaims', ['CREATE']) || !attributes.object) return;
      const { object } = attributes;
      const spec = makeFields(object, 'spec');
      if (isSet(spec['storageClassName']) || object.metadata.annotations?.[ownClass] !== undefined) return;
      const found = defaultClassOf(objects.list(classes, ''), isDefault);
      if (found) spec['storageClassName'] = found.metadata.name;
    },
  };
}
