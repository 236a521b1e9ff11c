import type { PriorityLevel } from './priority-level.js';
import { allocateSeats } from './seat-allocation.js';

/** Results of an adjustment, for metrics. */
export interface Adjustment {
  readonly fairFraction: number;
  /** The seats that each level is to have, by name. */
  readonly targets: ReadonlyMap<string, number>;
}

/**
 * Adjusts the limits of all levels to their demand in the last period: levels lend the seats that they did not use, down
 * to their lower limit, and others borrow them, up to their upper limit.
 */
export function adjustLimits(levels: Iterable<PriorityLevel>, nowMs: number): Adjustment {
  const limited: { readonly level: PriorityLevel; readonly lowest: number }[] = [];
  const targets = new Map<string, number>();
  let nominalSum = 0;
  let exemptSeats = 0;
  for (const level of levels) {
    const { queues } = level;
    const { demand, limits } = queues;
    demand.summarize(nowMs);
    nominalSum += limits.nominal;
    if (queues.isExempt) {
      const seats = Math.max(limits.lower, demand.highWatermark);
      exemptSeats += seats;
      queues.setLimit(seats);
    } else {
      const lowest = Math.max(limits.lower, Math.min(limits.nominal, demand.highWatermark));
      limited.push({ level, lowest });
    }
  }
  const left = nominalSum - exemptSeats;
  const lowerSum = limited.reduce((sum, { level }) => sum + level.queues.limits.lower, 0);
  const lowestSum = limited.reduce((sum, { lowest }) => sum + lowest, 0);
  if (left <= lowestSum) {
    // Too few seats for what the levels have used: each gets its lower limit, and the same fraction of the rest.
    const fraction = left <= lowerSum ? 0 : (left - lowerSum) / (lowestSum - lowerSum);
    for (const { level, lowest } of limited) {
      const { lower } = level.queues.limits;
      level.queues.setLimit(lower + Math.round((lowest - lower) * fraction));
    }
    return { fairFraction: 0, targets };
  }
  const demands = limited.map(({ level: { queues }, lowest }) => {
    const target = Math.max(lowest, queues.demand.smoothed);
    targets.set(queues.name, target);
    return { target, lowerBound: lowest, upperBound: Math.max(lowest, queues.limits.upper) };
  });
  const allocation = allocateSeats(nominalSum, demands);
  // Without a solution the limits stay.
  for (const [at, { level }] of limited.entries()) {
    level.queues.setLimit(allocation ? Math.round(allocation.seats[at]!) : level.queues.limit);
  }
  return { fairFraction: allocation?.fairFraction ?? 0, targets };
}
