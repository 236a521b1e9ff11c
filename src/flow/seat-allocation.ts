/** Bounds and demand of one priority level, in seats. 0 ≤ lowerBound ≤ target, lowerBound ≤ upperBound. */
interface Demand {
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
}

interface Allocation {
  readonly seats: readonly number[];
  /** The fraction of its target that each level gets unless a bound applies. */
  readonly fairFraction: number;
}

/** A level without demand has this target, so that levels without demand share what is left. */
const targetMin = 0.001;
const epsilon = 1e-7;

/**
 * Divides `total` seats among levels: each gets the same fraction of its target, limited by its bounds. The sum of all is
 * a function of the fraction that increases piece by piece; its pieces end where a bound begins or ceases to apply.
 * Returns undefined if the bounds allow no such division.
 */
export function allocateSeats(total: number, demands: readonly Demand[]): Allocation | undefined {
  const levels = demands.map((demand) => ({ ...demand, target: Math.max(demand.target, targetMin) }));
  const at = (fraction: number) =>
    levels.map(({ target, lowerBound, upperBound }) => clamp(fraction * target, lowerBound, upperBound));
  const lowest = sum(levels.map(({ lowerBound }) => lowerBound));
  const highest = sum(levels.map(({ upperBound }) => upperBound));
  if (levels.some((level) => level.lowerBound < 0 || level.upperBound < level.lowerBound)) return undefined;
  if (lowest - total > epsilon || total - highest > epsilon) return undefined;
  if (total === 0) return { seats: levels.map(() => 0), fairFraction: 0 };
  const bounds = levels.flatMap(({ target, lowerBound, upperBound }) => [lowerBound / target, upperBound / target]);
  const ends = [...new Set(bounds)].sort((a, b) => a - b);
  let before = ends[0]!;
  for (const end of ends) {
    const reached = sum(at(end));
    if (reached < total) {
      before = end;
      continue;
    }
    // Within a piece the sum is linear.
    const reachedBefore = sum(at(before));
    const slope = (reached - reachedBefore) / (end - before);
    const fraction = slope > 0 ? before + (total - reachedBefore) / slope : before;
    return { seats: at(fraction), fairFraction: fraction };
  }
  return { seats: at(before), fairFraction: before };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
