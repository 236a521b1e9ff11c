import type { VolumeResourceRequirements } from '../../../catalog/types/core.v1.js';
import type { Mutable } from '../../../machinery/mutable.js';
import { isShortQuantity, Quantity } from '../../../machinery/quantity.js';

/** Quantities by resource name: cpu, memory, … */
type Amounts = Readonly<Record<string, Amount>>;
export type Amount = string | null | undefined;

const zero = Quantity.ofInteger(0);

/** Cache: a validation compares the same few amounts many times. Cleared when full. */
const quantities = new Map<string, Quantity>();
const quantitiesMax = 2000;
/** A longer text may be a part of a body that V8 keeps in memory with it. */
const cachedLengthMax = 12;

/** Returns zero for an absent amount, and for a text that is no quantity. */
function quantity(amount: Amount): Quantity {
  if (!amount) return zero;
  const known = quantities.get(amount);
  if (known) return known;
  let parsed = zero;
  try {
    parsed = Quantity.parse(amount);
  } catch {
    // Not a quantity.
  }
  if (amount.length <= cachedLengthMax) {
    if (quantities.size >= quantitiesMax) quantities.clear();
    quantities.set(amount, parsed);
  }
  return parsed;
}

/** Rewrites the amounts of resource requirements in canonical form, see normalizeAmounts. */
export function normalizeResources({ limits, requests }: Mutable<VolumeResourceRequirements>): void {
  normalizeAmounts(limits);
  normalizeAmounts(requests);
}

/** Rewrites amounts in canonical form, rounded up to thousandths. Leaves values that are no quantities to validation. */
export function normalizeAmounts(amounts: Record<string, string> = {}): void {
  for (const [name, amount] of Object.entries(amounts)) {
    if (isShortQuantity(amount)) continue;
    try {
      const exact = Quantity.parse(amount);
      const inMilli = Quantity.ofMilli(exact.toMilli(), exact.format);
      amounts[name] = (exact.equals(inMilli) ? exact : inMilli).toString();
    } catch {
      // Not a quantity.
    }
  }
}

/** Sums and maxima of amounts, updated in place: a Pod may have as many resource names as containers. */
export class ResourceTotals {
  readonly totals = new Map<string, Quantity>();

  add(amounts: Amounts): void {
    for (const name of Object.keys(amounts)) {
      const before = this.totals.get(name);
      const amount = quantity(amounts[name]);
      this.totals.set(name, before ? before.add(amount) : amount);
    }
  }

  /** Raises the total of a resource to `amount`, if it is less. */
  raise(name: string, amount: Quantity): void {
    const before = this.totals.get(name);
    this.totals.set(name, before && before.compare(amount) >= 0 ? before : amount);
  }

  /** Returns the sum of the total of a resource and `amount`. */
  sumWith(name: string, amount: Amount): Quantity {
    const before = this.totals.get(name);
    return before ? before.add(quantity(amount)) : quantity(amount);
  }

  amounts(): Record<string, string> {
    return Object.fromEntries([...this.totals].map(([name, amount]) => [name, amount.toString()]));
  }
}

export function addResources(a: Amounts, b: Amounts): Record<string, string> {
  return combine(a, b, (left, right) => left.add(right));
}

export function maxResources(a: Amounts, b: Amounts): Record<string, string> {
  return combine(a, b, (left, right) => (left.compare(right) >= 0 ? left : right));
}

/** Returns the amount of a resource; undefined if it is absent. Clients choose the names, also `constructor`. */
export const amountOf = (amounts: Amounts | undefined, name: string): string | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, name) ? (amounts[name] ?? undefined) : undefined;

function combine(a: Amounts, b: Amounts, join: (left: Quantity, right: Quantity) => Quantity): Record<string, string> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const left = Object.hasOwn(a, name) ? quantity(a[name]) : undefined;
      const right = Object.hasOwn(b, name) ? quantity(b[name]) : undefined;
      return [name, (left && right ? join(left, right) : (left ?? right ?? zero)).toString()];
    }),
  );
}

export const compareAmounts = (a: Amount, b: Amount): number => quantity(a).compare(quantity(b));
export const sameAmount = (a: Amount, b: Amount): boolean => compareAmounts(a, b) === 0;
/** Returns the amount rounded to an integer, for messages. */
export const wholeUnits = (amount: Amount): bigint => quantity(amount).toInteger();
export const isNegative = (amount: Amount): boolean => quantity(amount).sign < 0;
export const isPositive = (amount: Amount): boolean => quantity(amount).sign > 0;
export const isWhole = (amount: Amount): boolean =>
  quantity(amount).equals(Quantity.ofInteger(quantity(amount).toInteger()));

/** True if the amount is a positive multiple of the unit, as the size of huge pages must be. */
export function isWholeMultiple(amount: Amount, unit: string): boolean {
  const size = quantity(unit).toInteger();
  const wanted = quantity(amount).toInteger();
  return size > 0n && wanted > 0n && wanted % size === 0n;
}

/** Returns `a` divided by `b`. */
export const amountRatio = (a: Amount, b: Amount): number => quantity(a).toNumber() / quantity(b).toNumber();
