import type { NamingProfile } from '../../config/naming-profile.js';
import { asItems, makeFields } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

/** A node that has just been made known is not ready: nothing is placed on it before its agent says otherwise. */
export function taintNodesByCondition({ naming }: { readonly naming: NamingProfile }): AdmissionPlugin {
  const notReady = { key: naming.label('not-ready', 'node'), effect: 'NoSchedule' };
  return {
    name: 'TaintNodesByCondition',
    admit(attributes) {
      if (!isAbout(attributes, '', 'nodes', ['CREATE']) || !attributes.object) return;
      const spec = makeFields(attributes.object, 'spec');
      const taints = asItems(spec['taints']);
      if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
      spec['taints'] = [...taints, { ...notReady }];
    },
  };
}
