import { asFields, asItems, type Fields } from '../../machinery/fields.js';
import type { Quantity } from '../../machinery/quantity.js';
import { largestOf, readAmounts, sumOf, sumOfAll, type Amounts } from '../amounts.js';

export type ResourceSide = 'requests' | 'limits';

export interface PodAmountOptions {
  /** What the sandbox itself takes, spec.overhead. */
  readonly withOverhead?: boolean;
}

/**
 * What a Pod takes of a node: its containers run side by side, its init containers one after another before them, and
 * those init containers that restart run on beside everything that comes later. What the Pod says for itself as a
 * whole goes before what its containers add up to.
 */
export function podAmounts(spec: unknown, side: ResourceSide, { withOverhead = true }: PodAmountOptions = {}): Amounts {
  const fields = asFields(spec);
  const beside = sumOfAll(asItems(fields['containers']).map((container) => amountsOf(container, side)));
  const sidecars = new Map<string, Quantity>();
  // Never less than what the sidecars take, so only the names of one container change at a time.
  const starting = new Map<string, Quantity>();
  for (const container of asItems(fields['initContainers'])) {
    const isSidecar = container['restartPolicy'] === 'Always';
    for (const [name, amount] of amountsOf(container, side)) {
      const sum = sidecars.get(name)?.add(amount) ?? amount;
      if (isSidecar) sidecars.set(name, sum);
      const before = starting.get(name);
      if (!before || before.compare(sum) < 0) starting.set(name, sum);
    }
  }
  const containers = largestOf(sumOf(beside, sidecars), starting);
  const together = new Map([...containers, ...amountsOf(fields, side)]);
  if (!withOverhead) return together;
  const overhead = readAmounts(fields['overhead']);
  if (side === 'requests') return sumOf(together, overhead);
  // Where nothing is limited, the overhead limits nothing either.
  return sumOf(together, new Map([...overhead].filter(([name]) => together.has(name))));
}

export function amountsOf(holder: Fields, side: ResourceSide): Amounts {
  return readAmounts(asFields(holder['resources'])[side]);
}
