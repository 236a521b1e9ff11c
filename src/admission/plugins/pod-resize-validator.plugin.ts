import type { Node, Pod } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import type { Quantity } from '../../machinery/quantity.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { parseAmounts, zero } from '../amounts.js';
import { isAbout, onlyPods } from '../matching.js';
import { find } from '../object-reader.js';
import { podAmounts } from '../pods/pod-requests.js';
import { forbid } from '../refusal.js';

const nodes = { group: '', resource: 'nodes' };

/** Refuses to resize a Pod beyond what its node can allocate, or on a node that does not run Linux. */
export const podResizeValidator = defineAdmissionPlugin({
  name: 'PodResizeValidator',
  runs: 'by default',
  make({ objects, naming }) {
    const osLabel = naming.label('os');
    return {
      resources: onlyPods,
      actsOnUnchanged: () => false,
      async validate(attributes) {
        if (!isAbout(attributes, '', 'pods', ['UPDATE'], 'resize')) return;
        const pod: Pod | undefined = attributes.object;
        const old: Pod | undefined = attributes.old;
        if (!pod || !old || deepEqual(pod.spec, old.spec)) return;
        const nodeName = pod.spec?.nodeName ?? '';
        if (nodeName === '') return;
        const node = await find(objects, nodes, '', nodeName, attributes.request.signal);
        if (!node) throw forbid(attributes, `node ${goQuote(nodeName)} not found`);
        const os = node.metadata.labels?.[osLabel];
        if (os !== undefined && os !== 'linux') {
          const why = `pod resize is only supported on linux nodes, node ${goQuote(nodeName)} is ${goQuote(os)}`;
          throw refused(attributes, why, 'UnsupportedPlatform');
        }
        const lacking = lackingResources(pod, node);
        if (lacking.length > 0) {
          const why = `node didn't have enough allocatable resources: ${lacking.join('; ')}`;
          throw refused(attributes, why, 'NodeCapacity');
        }
      },
    };
  },
});

function lackingResources({ spec = {} }: Pod, { status }: Node): string[] {
  const requests = podAmounts(spec, 'requests');
  const allocatable = parseAmounts(status?.allocatable);
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const [requested, available] = [requests.get(name) ?? zero, allocatable.get(name) ?? zero];
    if (requested.compare(available) <= 0) return [];
    // cpu is in millicores.
    const format = (amount: Quantity) => (name === 'cpu' ? amount.toMilli() : amount.toInteger());
    return [`${name}, requested: ${format(requested)}, allocatable: ${format(available)}`];
  });
}

function refused(attributes: AdmissionAttributes, why: string, cause: string): ApiError {
  const { reason, message, details } = forbid(attributes, why);
  return new ApiError({ reason, message, details: { ...details, causes: [{ reason: cause }] } });
}
