import type { Service } from '../../catalog/types/core.v1.js';
import { Quantity } from '../../machinery/quantity.js';
import { one, zero } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { noScope } from './scopes.js';

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

/** Counts Services, their node ports and their load balancers. */
export const serviceEvaluator: Evaluator = {
  handles: (operation, subresource) => (operation === 'CREATE' || operation === 'UPDATE') && subresource === '',
  counts: (name) => names.includes(name),
  matchesScope: noScope,
  usage({ spec = {} }: Service) {
    const { type, ports = [], allocateLoadBalancerNodePorts = true } = spec;
    const isBalanced = type === 'LoadBalancer';
    // Without allocateLoadBalancerNodePorts, only node ports that the user set are used.
    const nodePorts =
      type === 'NodePort' || (isBalanced && allocateLoadBalancerNodePorts)
        ? ports.length
        : isBalanced
          ? ports.filter(({ nodePort = 0 }) => nodePort !== 0).length
          : 0;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', Quantity.ofInteger(nodePorts)],
      ['services.loadbalancers', isBalanced ? one : zero],
    ]);
  },
};
