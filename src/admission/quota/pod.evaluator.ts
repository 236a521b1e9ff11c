import type { Pod } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { Quantity } from '../../machinery/quantity.js';
import { one, type Amounts } from '../amounts.js';
import { containersOf } from '../../pods/containers.js';
import { amountsOf, podAmounts } from '../pods/pod-requests.js';
import { isExtendedResource, isHugePage } from '../pods/resource-names.js';
import type { Evaluator } from './evaluator.js';
import { podScope, scopeKey } from './scopes.js';

const basic = ['cpu', 'memory', 'ephemeral-storage'];
/** If one of these is limited, every container must set it. */
const required = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Counts Pods that have not ended with their requests and limits; `count/pods` counts all stored Pods. */
export function podEvaluator(naming: NamingProfile): Evaluator {
  const fixed = new Set([
    'count/pods',
    'pods',
    ...basic,
    ...basic.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ]);
  const computeUsage = (requests: Amounts, limits: Amounts): Map<string, Quantity> => {
    const usage = new Map<string, Quantity>();
    for (const [name, amount] of requests) {
      if (basic.includes(name) || isHugePage(name)) usage.set(name, amount).set(`requests.${name}`, amount);
      else if (isExtendedResource(name, naming)) usage.set(`requests.${name}`, amount);
    }
    for (const [name, amount] of limits) if (basic.includes(name)) usage.set(`limits.${name}`, amount);
    return usage;
  };
  return {
    handles: (operation, subresource) =>
      (operation === 'CREATE' && subresource === '') || (operation === 'UPDATE' && subresource === 'resize'),
    changesScope: (pod, old) => scopeKey(pod) !== scopeKey(old),
    counts: (name) =>
      fixed.has(name) ||
      isHugePage(name.replace(/^requests\./, '')) ||
      (name.startsWith('requests.') && isExtendedResource(name.slice('requests.'.length), naming)),
    matchesScope: podScope,
    usage(pod: Pod, nowMs) {
      const usage = new Map([['count/pods', one]]);
      if (hasEnded(pod, nowMs)) return usage;
      const { spec = {} } = pod;
      const compute = computeUsage(podAmounts(spec, 'requests'), podAmounts(spec, 'limits'));
      return new Map([...usage, ['pods', one], ...compute]);
    },
    missing({ spec = {} }: Pod, limited) {
      const names = required.filter((name) => limited.has(name));
      if (names.length === 0) return undefined;
      const ofPod = computeUsage(amountsOf(spec, 'requests'), amountsOf(spec, 'limits'));
      const containers = containersOf(spec, ['containers', 'initContainers']).map((container) => ({
        name: container.name ?? '',
        usage: computeUsage(amountsOf(container, 'requests'), amountsOf(container, 'limits')),
      }));
      const gaps = names.sort().flatMap((name) => {
        if (ofPod.has(name)) return [];
        const lacking = containers.filter(({ usage }) => !usage.has(name)).map((container) => container.name);
        return lacking.length === 0 ? [] : [`${name} for: ${[...new Set(lacking)].sort().join(',')}`];
      });
      return gaps.length === 0 ? undefined : `must specify ${gaps.join('; ')}`;
    },
  };
}

/** True if the Pod is Failed or Succeeded, or if its grace period is over and its node has not confirmed the deletion. */
function hasEnded({ metadata, status }: Pod, nowMs: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds: graceSeconds = 0 } = metadata;
  if (deletionTimestamp === undefined) return false;
  return nowMs > Date.parse(deletionTimestamp) + Number(graceSeconds) * 1000;
}
