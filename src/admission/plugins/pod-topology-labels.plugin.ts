import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { newPodOf } from '../matching.js';
import type { ObjectReader } from '../object-reader.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

const nodes = { group: '', resource: 'nodes' };

/** A Pod that comes with its node can read where that is: the node's zone and region are among its labels. */
export function podTopologyLabels({ objects, naming }: Parts): AdmissionPlugin {
  const labels = ['zone', 'region'].map((name) => naming.label(name, 'topology'));
  return {
    name: 'PodTopologyLabels',
    admit(attributes) {
      const pod = newPodOf(attributes);
      const nodeName = asText(asFields(pod?.['spec'])['nodeName']);
      if (!pod || nodeName === '') return;
      const node = objects.cached(nodes, '', nodeName);
      for (const label of labels) {
        const value = node?.metadata.labels?.[label];
        if (value !== undefined) (pod.metadata.labels ??= {})[label] = value;
      }
    },
  };
}
