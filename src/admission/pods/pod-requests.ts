import { asFields, asItems, type Fields } from '../../machinery/fields.js';
import { largestOf, noAmounts, readAmounts, sumOf, type Amounts } from '../amounts.js';

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
  const beside = sumOf(...asItems(fields['containers']).map((container) => amountsOf(container, side)));
  let sidecars = noAmounts;
  let starting = noAmounts;
  for (const container of asItems(fields['initContainers'])) {
    const own = amountsOf(container, side);
    if (container['restartPolicy'] === 'Always') {
      sidecars = sumOf(sidecars, own);
      starting = largestOf(starting, sidecars);
    } else {
      starting = largestOf(starting, sumOf(sidecars, own));
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
