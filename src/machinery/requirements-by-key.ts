import { parseInt64 } from './int64-text.js';

interface Requirement {
  readonly key: string;
  readonly operator: '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** Longer selectors and value lists are looked up in maps and sets. */
export const listedMax = 16;

/** All requirements on one label key. */
interface KeyConstraint {
  mustExist: boolean;
  mustNotExist: boolean;
  /** Undefined if any value is allowed. A single value is kept as string: sets for 200,000 keys take 0.2 s. */
  allowed: string | ReadonlySet<string> | undefined;
  denied: Set<string> | undefined;
  /** Undefined if a bound is not an integer: no value matches. */
  above: bigint | undefined;
  below: bigint | undefined;
  isCompared: boolean;
}

const lowest = -(2n ** 63n) - 1n;
const highest = 2n ** 63n;

/**
 * Groups the requirements of a long selector by key, so that matching costs the number of labels. A selector of 1 MB
 * may have 200,000 requirements, and is matched with every object of a list.
 */
export class RequirementsByKey {
  private readonly constraints = new Map<string, KeyConstraint>();
  private readonly neededKeys: readonly string[];

  constructor(requirements: readonly Requirement[]) {
    for (const requirement of requirements) this.add(requirement);
    this.neededKeys = [...this.constraints].filter(([, { mustExist }]) => mustExist).map(([key]) => key);
  }

  areMet(labels: Readonly<Record<string, string>> | undefined): boolean {
    // An absent label never meets a requirement of existence: stop at the first.
    for (const key of this.neededKeys) if (!Object.hasOwn(labels ?? {}, key)) return false;
    for (const key in labels) {
      const value: unknown = labels[key];
      const demand = this.constraints.get(key);
      if (demand && !isMetBy(demand, typeof value === 'string' ? value : undefined)) return false;
    }
    return true;
  }

  private add({ key, operator, values }: Requirement): void {
    let demand = this.constraints.get(key);
    if (!demand) this.constraints.set(key, (demand = noConstraint()));
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

function noConstraint(): KeyConstraint {
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

function compare(demand: KeyConstraint, operator: 'gt' | 'lt', bound: bigint | undefined): void {
  demand.mustExist = true;
  demand.isCompared = true;
  if (operator === 'gt') {
    demand.above = bound === undefined || demand.above === undefined ? undefined : max(demand.above, bound);
  } else demand.below = bound === undefined || demand.below === undefined ? undefined : min(demand.below, bound);
}

function isMetBy(demand: KeyConstraint, value: string | undefined): boolean {
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
