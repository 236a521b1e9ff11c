import type { Binding, Pod } from '../../catalog/types/core.v1.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { onlyPods } from '../matching.js';

const nodes = { group: '', resource: 'nodes' };

/** Copies the zone and region labels of the node to a Pod that is scheduled to it, so that its containers can read them. */
export const podTopologyLabels = defineAdmissionPlugin({
  name: 'PodTopologyLabels',
  runs: 'by default',
  make({ objects, naming }) {
    const labels = ['zone', 'region'].map((name) => naming.label(name, 'topology'));
    return {
      resources: [...onlyPods, { group: '', resource: 'bindings' }],
      actsOnUnchanged: () => false,
      admit(attributes) {
        const { object } = attributes;
        const nodeName = nodeOf(attributes);
        if (!object || nodeName === '') return;
        const node = objects.cached(nodes, '', nodeName);
        for (const label of labels) {
          const value = node?.metadata.labels?.[label];
          if (value !== undefined) (object.metadata.labels ??= {})[label] = value;
        }
      },
    };
  },
});

/** Returns the node of a new Pod with spec.nodeName, or of a Binding; '' for other writes. */
function nodeOf(attributes: AdmissionAttributes): string {
  const { resource, subresource, operation } = attributes;
  if (resource.group !== '' || operation !== 'CREATE') return '';
  if (resource.resource === 'pods' && subresource === '') {
    const pod: Pod | undefined = attributes.object;
    return pod?.spec?.nodeName ?? '';
  }
  if (`${resource.resource}/${subresource}` !== 'pods/binding' && resource.resource !== 'bindings') return '';
  const binding: Binding | undefined = attributes.object;
  const { kind = '', name = '' } = binding?.target ?? {};
  return ['', 'Node'].includes(kind) ? name : '';
}
