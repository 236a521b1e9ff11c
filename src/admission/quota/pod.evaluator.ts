import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asNumber, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Quantity } from '../../machinery/quantity.js';
import { one, type Amounts } from '../amounts.js';
import { containersOf } from '../pods/containers.js';
import { amountsOf, podAmounts } from '../pods/pod-requests.js';
import { isExtendedResource, isHugePage } from '../pods/resource-names.js';
import type { Evaluator } from './evaluator.js';
import { podScope, scopeKey } from './scopes.js';

const basic = ['cpu', 'memory', 'ephemeral-storage'];
/** When one of these is limited, every container must say it for itself. */
const required = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Pods are counted while they run, with what they ask for; `count/pods` counts all that are stored. */
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
    usage(pod, nowMs) {
      const usage = new Map([['count/pods', one]]);
      if (hasEnded(pod, nowMs)) return usage;
      const { spec } = pod;
      const compute = computeUsage(podAmounts(spec, 'requests'), podAmounts(spec, 'limits'));
      return new Map([...usage, ['pods', one], ...compute]);
    },
    missing(pod, limited) {
      const names = required.filter((name) => limited.has(name));
      if (names.length === 0) return undefined;
      const ofPod = computeUsage(
        amountsOf(asFields(pod['spec']), 'requests'),
        amountsOf(asFields(pod['spec']), 'limits'),
      );
      const containers = containersOf(pod['spec'], ['containers', 'initContainers']).map((container) => ({
        name: asText(container['name']),
        said: computeUsage(amountsOf(container, 'requests'), amountsOf(container, 'limits')),
      }));
      const gaps = names.sort().flatMap((name) => {
        if (ofPod.has(name)) return [];
        const silent = containers.filter(({ said }) => !said.has(name)).map((container) => container.name);
        return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent)].sort().join(',')}`];
      });
      return gaps.length === 0 ? undefined : `must specify ${gaps.join('; ')}`;
    },
  };
}

/** It takes nothing of a node any more, or should have been gone for some time and its node does not say. */
function hasEnded(pod: KubeObject, nowMs: number): boolean {
  const phase = asText(asFields(pod['status'])['phase']);
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (!isSet(deletionTimestamp)) return false;
  return nowMs > Date.parse(deletionTimestamp!) + asNumber(deletionGracePeriodSeconds) * 1000;
}
