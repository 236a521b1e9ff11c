import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import type { ObjectReader } from '../object-reader.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

const nodes = { group: '', resource: 'nodes' };

/** A Pod can read where its node is: when it gets one, the node's zone and region come among its labels. */
export function podTopologyLabels({ objects, naming }: Parts): AdmissionPlugin {
  const labels = ['zone', 'region'].map((name) => naming.label(name, 'topology'));
  return {
    name: 'PodTopologyLabels',
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
}

/** Of a Pod that comes with its node, or of a binding that gives it one. */
function nodeOf(attributes: AdmissionAttributes): string {
  const { resource, subresource, operation, object } = attributes;
  if (resource.group !== '' || operation !== 'CREATE') return '';
  if (resource.resource === 'pods' && subresource === '') return asText(asFields(object?.['spec'])['nodeName']);
  const binds = `${resource.resource}/${subresource}` === 'pods/binding' || resource.resource === 'bindings';
  const { kind, name } = asFields(object?.['target']);
  return binds && ['', 'Node'].includes(asText(kind)) ? asText(name) : '';
}
