import { parseInt64 } from './int64-text.js';

interface Requirement {
  readonly key: string;
  readonly operator: '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** In longer selectors and lists of values, looking up costs less than looking through. */
export const listedMax = 16;

/** What one label must meet: all that the requirements on its key say together. */
interface Demand {
  mustExist: boolean;
  mustNotExist: boolean;
  /** Undefined when any value will do. A text where there is one value: a set for each of 200,000 keys takes 0.2 s. */
  allowed: string | ReadonlySet<string> | undefined;
  denied: Set<string> | undefined;
  /** Undefined when a bound is no integer: no value meets it. */
  above: bigint | undefined;
  below: bigint | undefined;
  isCompared: boolean;
}

const lowest = -(2n ** 63n) - 1n;
const highest = 2n ** 63n;

/**
 * The requirements of a long selector, joined by key: an object costs its labels, however many requirements there are.
 * A selector of 1 MB may have 200,000, and is asked for every object of a list.
 */
export class RequirementsByKey {
  private readonly demands = new Map<string, Demand>();
  private readonly neededKeys: readonly string[];

  constructor(requirements: readonly Requirement[]) {
    for (const requirement of requirements) this.add(requirement);
    this.neededKeys = [...this.demands].filter(([, { mustExist }]) => mustExist).map(([key]) => key);
  }

  areMet(labels: Readonly<Record<string, string>> | undefined): boolean {
    // An absent label meets no demand for one: the first that is absent ends the loop.
    for (const key of this.neededKeys) if (!Object.hasOwn(labels ?? {}, key)) return false;
    for (const key in labels) {
      const value: unknown = labels[key];
      const demand = this.demands.get(key);
      if (demand && !isMetBy(demand, typeof value === 'string' ? value : undefined)) return false;
    }
    return true;
  }

  private add({ key, operator, values }: Requirement): void {
    let demand = this.demands.get(key);
    if (!demand) this.demands.set(key, (demand = noDemand()));
    switch (operator) {
      case '=':
      case '==':
      case 'in': {
        const { allowed } = demand;
        demand.mustExist = true;
        const both = allowed === undefined ? values : values.filter((value) => isAllowed(allowed, value));
        demand.allowed = both.length === 1 ? both[0]! : new Set(both);
        break;
      }
      case '!=':
      case 'notin':
        for (const value of values) (demand.denied ??= new Set()).add(value);
        break;
      case 'exists':
        demand.mustExist = true;
        break;
      case '!':
        demand.mustNotExist = true;
        break;
      case 'gt':
      case 'lt':
        compare(demand, operator, parseInt64(values[0]!));
    }
  }
}

function noDemand(): Demand {
  return {
    mustExist: false,
    mustNotExist: false,
    allowed: undefined,
    denied: undefined,
    above: lowest,
    below: highest,
    isCompared: false,
  };
}

function compare(demand: Demand, operator: 'gt' | 'lt', bound: bigint | undefined): void {
  demand.mustExist = true;
  demand.isCompared = true;
  if (operator === 'gt') {
    demand.above = bound === undefined || demand.above === undefined ? undefined : max(demand.above, bound);
  } else demand.below = bound === undefined || demand.below === undefined ? undefined : min(demand.below, bound);
}

function isMetBy(demand: Demand, value: string | undefined): boolean {
  if (value === undefined) return !demand.mustExist;
  if (demand.mustNotExist || demand.denied?.has(value)) return false;
  if (demand.allowed !== undefined && !isAllowed(demand.allowed, value)) return false;
  if (!demand.isCompared) return true;
  const number = parseInt64(value);
  const { above, below } = demand;
  return number !== undefined && above !== undefined && below !== undefined && number > above && number < below;
}

const isAllowed = (allowed: string | ReadonlySet<string>, value: string): boolean =>
  typeof allowed === 'string' ? allowed === value : allowed.has(value);

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
