import { asFields, asItems, isSet, type Fields } from '../../../machinery/fields.js';
import { addResources, isPositive, sameAmount } from './pod-resources.js';

/**
 * How well a pod is treated when its node runs short, by what it asks for of CPU and memory:
 *   BestEffort  nothing at all
 *   Guaranteed  every container limits both, and asks for exactly its limits
 *   Burstable   anything between
 */
export function qosClass(pod: Fields): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const spec = asFields(pod['spec']);
  const containers = isSet(spec['resources'])
    ? [spec]
    : [...asItems(spec['containers']), ...asItems(spec['initContainers'])];
  let requests: Record<string, string> = {};
  let limits: Record<string, string> = {};
  let allLimited = true;
  for (const container of containers) {
    const resources = asFields(container['resources']);
    const limited = counted(asFields(resources['limits']));
    requests = addResources(requests, counted(asFields(resources['requests'])));
    limits = addResources(limits, limited);
    if (Object.keys(limited).length < counters.length) allLimited = false;
  }
  const asked = Object.keys(requests);
  if (asked.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const asksForLimits =
    asked.length === Object.keys(limits).length && asked.every((name) => sameAmount(requests[name], limits[name]));
  return allLimited && asksForLimits ? 'Guaranteed' : 'Burstable';
}

const counters = ['cpu', 'memory'];

function counted(resources: Fields): Record<string, string> {
  return Object.fromEntries(
    counters.flatMap((name) => (isPositive(resources[name]) ? [[name, String(resources[name])]] : [])),
  );
}
