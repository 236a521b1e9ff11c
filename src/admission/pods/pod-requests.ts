import type { PodSpec, ResourceRequirements } from '../../catalog/types/core.v1.js';
import type { Quantity } from '../../machinery/quantity.js';
import { largestOf, parseAmounts, sumOf, sumOfAll, type Amounts } from '../amounts.js';

export type ResourceSide = 'requests' | 'limits';

interface PodAmountOptions {
  /** Adds spec.overhead, which the Pod's sandbox uses. */
  readonly withOverhead?: boolean;
}

/**
 * Computes the requests or limits of a Pod. Containers run at the same time; init containers run one after another before
 * them, and restartable init containers (sidecars) keep running. Amounts in spec.resources replace those of containers.
 */
export function podAmounts(spec: PodSpec, side: ResourceSide, { withOverhead = true }: PodAmountOptions = {}): Amounts {
  const running = sumOfAll((spec.containers ?? []).map((container) => amountsOf(container, side)));
  const sidecars = new Map<string, Quantity>();
  // The largest sum while init containers run. Each container can only raise the amounts that it names.
  const starting = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    for (const [name, amount] of amountsOf(container, side)) {
      const sum = sidecars.get(name)?.add(amount) ?? amount;
      if (isSidecar) sidecars.set(name, sum);
      const before = starting.get(name);
      if (!before || before.compare(sum) < 0) starting.set(name, sum);
    }
  }
  const containers = largestOf(sumOf(running, sidecars), starting);
  const amounts = new Map([...containers, ...amountsOf(spec, side)]);
  if (!withOverhead) return amounts;
  const overhead = parseAmounts(spec.overhead);
  if (side === 'requests') return sumOf(amounts, overhead);
  // An amount without a limit stays unlimited.
  return sumOf(amounts, new Map([...overhead].filter(([name]) => amounts.has(name))));
}

interface ResourceHolder {
  readonly resources?: ResourceRequirements | undefined;
}

/** Returns the requests or limits of a container, a claim, or a Pod as a whole. */
export function amountsOf({ resources }: ResourceHolder, side: ResourceSide): Amounts {
  return parseAmounts(resources?.[side]);
}
