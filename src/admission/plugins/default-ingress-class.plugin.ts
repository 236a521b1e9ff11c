import type { Ingress } from '../../catalog/types/networking.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { defaultClassOf } from '../default-class.js';
import { isAbout } from '../matching.js';

/** Sets the default IngressClass on new Ingresses without a class in spec.ingressClassName or in the old annotation. */
export const defaultIngressClass = defineAdmissionPlugin({
  name: 'DefaultIngressClass',
  runs: 'by default',
  make({ objects, naming }) {
    const group = naming.group('networking');
    const classes = { group, resource: 'ingressclasses' };
    const classAnnotation = naming.label('ingress.class');
    const isDefault = [naming.label('is-default-class', 'ingressclass')];
    return {
      resources: [{ group, resource: 'ingresses' }],
      actsOnUnchanged: () => false,
      admit(attributes) {
        if (!isAbout(attributes, group, 'ingresses', ['CREATE']) || !attributes.object) return;
        const ingress: Mutable<Ingress> = attributes.object;
        const spec = (ingress.spec ??= {});
        if (spec.ingressClassName !== undefined || ingress.metadata.annotations?.[classAnnotation] !== undefined)
          return;
        const found = defaultClassOf(objects.list(classes, ''), isDefault);
        if (found) spec.ingressClassName = found.metadata.name;
      },
    };
  },
});
