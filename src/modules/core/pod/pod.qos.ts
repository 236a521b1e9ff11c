import type { Pod } from '../../../catalog/types/core.v1.js';
import { addResources, isPositive, sameAmount } from './pod-resources.js';

/**
 * Returns the QoS class of a Pod, by the CPU and memory in its resource requirements:
 *   BestEffort  no requests and no limits
 *   Guaranteed  every container limits both, with requests equal to limits
 *   Burstable   all others
 * Resources of the Pod as a whole, if set, replace those of its containers.
 */
export function qosClass({ spec = {} }: Pod): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const containers = spec.resources ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let requests: Record<string, string> = {};
  let limits: Record<string, string> = {};
  let allLimited = true;
  for (const { resources = {} } of containers) {
    const limited = computeResources(resources.limits);
    requests = addResources(requests, computeResources(resources.requests));
    limits = addResources(limits, limited);
    if (Object.keys(limited).length < computeResourceNames.length) allLimited = false;
  }
  const requested = Object.keys(requests);
  if (requested.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const requestsEqualLimits =
    requested.length === Object.keys(limits).length &&
    requested.every((name) => sameAmount(requests[name], limits[name]));
  return allLimited && requestsEqualLimits ? 'Guaranteed' : 'Burstable';
}

const computeResourceNames = ['cpu', 'memory'];

/** Returns the amounts of CPU and memory that are more than zero. */
function computeResources(amounts: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    computeResourceNames.flatMap((name) => {
      const amount = amounts[name];
      return amount !== undefined && isPositive(amount) ? [[name, amount]] : [];
    }),
  );
}
