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

/** An Ingress that names no class, in the field or in the old annotation, gets the default one. */
export function defaultIngressClass({ objects, naming }: Parts): AdmissionPlugin {
  const group = naming.group('networking');
  const classes = { group, resource: 'ingressclasses' };
  const ownClass = naming.label('ingress.class');
  const isDefault = [naming.label('is-default-class', 'ingressclass')];
  return {
    name: 'DefaultIngressClass',
    admit(attributes) {
      if (!isAbout(attributes, group, 'ingresses', ['CREATE']) || !attributes.object) return;
      const { object } = attributes;
      const spec = makeFields(object, 'spec');
      if (isSet(spec['ingressClassName']) || object.metadata.annotations?.[ownClass] !== undefined) return;
      const found = defaultClassOf(objects.list(classes, ''), isDefault);
      if (found) spec['ingressClassName'] = found.metadata.name;
    },
  };
}
