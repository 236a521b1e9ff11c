import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Quantity } from '../../machinery/quantity.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { nothing, readAmounts } from '../amounts.js';
import { find, type ObjectReader } from '../object-reader.js';
import { podAmounts } from '../pods/pod-requests.js';
import { forbid } from '../refusal.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

const nodes = { group: '', resource: 'nodes' };

/** Refuses to resize a Pod beyond what its node has, or on a node whose operating system cannot do it. */
export function podResizeValidator({ objects, naming }: Parts): AdmissionPlugin {
  const osLabel = naming.label('os');
  return {
    name: 'PodResizeValidator',
    async validate(attributes) {
      const { resource, subresource, operation, object, old, request } = attributes;
      if (operation !== 'UPDATE' || resource.group !== '' || resource.resource !== 'pods') return;
      if (subresource !== 'resize' || !object || !old || deepEqual(object['spec'], old['spec'])) return;
      const nodeName = asText(asFields(object['spec'])['nodeName']);
      if (nodeName === '') return;
      const node = await find(objects, nodes, '', nodeName, request.signal);
      if (!node) throw forbid(attributes, `node ${goQuote(nodeName)} not found`);
      const os = node.metadata.labels?.[osLabel];
      if (os !== undefined && os !== 'linux') {
        const why = `pod resize is only supported on linux nodes, node ${goQuote(nodeName)} is ${goQuote(os)}`;
        throw refused(attributes, why, 'UnsupportedPlatform');
      }
      const lacking = lackOf(object, node);
      if (lacking.length > 0) {
        const why = `node didn't have enough allocatable resources: ${lacking.join('; ')}`;
        throw refused(attributes, why, 'NodeCapacity');
      }
    },
  };
}

function lackOf(pod: KubeObject, node: KubeObject): string[] {
  const requests = podAmounts(pod['spec'], 'requests');
  const allocatable = readAmounts(asFields(node['status'])['allocatable']);
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const [wanted, has] = [requests.get(name) ?? nothing, allocatable.get(name) ?? nothing];
    if (wanted.compare(has) <= 0) return [];
    // Processors are told in thousandths.
    const told = (amount: Quantity) => (name === 'cpu' ? amount.toMilli() : amount.toInteger());
    return [`${name}, requested: ${told(wanted)}, allocatable: ${told(has)}`];
  });
}

function refused(attributes: AdmissionAttributes, why: string, cause: string): ApiError {
  const { reason, message, details } = forbid(attributes, why);
  return new ApiError({ reason, message, details: { ...details, causes: [{ reason: cause }] } });
}
