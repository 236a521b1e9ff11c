import type { NamingProfile } from '../../config/naming-profile.js';
import { makeFields } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { containersOf } from '../pods/containers.js';
import { amountsOf } from '../pods/pod-requests.js';
import { isExtendedResource } from '../pods/resource-names.js';
import { putToleration } from '../pods/tolerations.js';

/** Nodes with special devices are tainted by the name of the device; whoever asks for the device tolerates that. */
export function extendedResourceToleration({ naming }: { readonly naming: NamingProfile }): AdmissionPlugin {
  return {
    name: 'ExtendedResourceToleration',
    admit(attributes) {
      if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) || !attributes.object) return;
      const spec = makeFields(attributes.object, 'spec');
      const asked = containersOf(spec, ['initContainers', 'containers']).flatMap((container) => [
        ...amountsOf(container, 'requests').keys(),
      ]);
      const devices = new Set(asked.filter((name) => isExtendedResource(name, naming)));
      for (const key of [...devices].sort()) putToleration(spec, { key, operator: 'Exists' });
    },
  };
}
