import { asFields, asItems, asNumber } from '../../machinery/fields.js';
import { Quantity } from '../../machinery/quantity.js';
import { nothing, one } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { noScope } from './scopes.js';

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

export const serviceEvaluator: Evaluator = {
  handles: (operation, subresource) => (operation === 'CREATE' || operation === 'UPDATE') && subresource === '',
  counts: (name) => names.includes(name),
  matchesScope: noScope,
  usage(service) {
    const spec = asFields(service['spec']);
    const ports = asItems(spec['ports']);
    const isBalanced = spec['type'] === 'LoadBalancer';
    const wantsNodePorts = spec['allocateLoadBalancerNodePorts'] !== false;
    // A balancer that reaches Pods by itself takes only the node ports that were asked for.
    const nodePorts =
      spec['type'] === 'NodePort' || (isBalanced && wantsNodePorts)
        ? ports.length
        : isBalanced
          ? ports.filter(({ nodePort }) => asNumber(nodePort) !== 0).length
          : 0;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', Quantity.ofInteger(nodePorts)],
      ['services.loadbalancers', isBalanced ? one : nothing],
    ]);
  },
};
