import { asFields, type Fields } from '../../../machinery/fields.js';
import { isShortQuantity, Quantity } from '../../../machinery/quantity.js';

/** Amounts by the name of what is counted (cpu, memory, …), as containers ask for them. What cannot be read counts as nothing. */
type Amounts = Record<string, string>;

const none = Quantity.ofInteger(0);

function quantity(amount: unknown): Quantity {
  if (typeof amount !== 'string' && typeof amount !== 'number') return none;
  try {
    return Quantity.parse(String(amount));
  } catch {
    return none;
  }
}

/** Every amount in the one way it is written; nobody counts in less than thousandths. */
export function normalizeResources(resources: Fields): void {
  for (const kind of ['limits', 'requests']) normalizeAmounts(resources[kind]);
}

export function normalizeAmounts(map: unknown): void {
  const amounts = asFields(map);
  for (const [name, amount] of Object.entries(amounts)) {
    if (typeof amount !== 'string' && typeof amount !== 'number') continue;
    if (typeof amount === 'string' && isShortQuantity(amount)) continue;
    try {
      const exact = Quantity.parse(String(amount));
      const inMilli = Quantity.ofMilli(exact.toMilli(), exact.format);
      amounts[name] = (exact.equals(inMilli) ? exact : inMilli).toString();
    } catch {
      // Not an amount: that is for validation to say.
    }
  }
}

/** Sums and maxima of many amounts, each added in place: a pod may have as many names of resources as containers. */
export class ResourceTotals {
  readonly totals = new Map<string, Quantity>();

  add(amounts: Readonly<Fields>): void {
    for (const name of Object.keys(amounts)) {
      const before = this.totals.get(name);
      const amount = quantity(amounts[name]);
      this.totals.set(name, before ? before.add(amount) : amount);
    }
  }

  /** Raises each amount to what is given for it, where that is more. */
  raise(name: string, amount: Quantity): void {
    const before = this.totals.get(name);
    this.totals.set(name, before && before.compare(amount) >= 0 ? before : amount);
  }

  /** This amount and another one of the same name together. */
  with(name: string, amount: unknown): Quantity {
    const before = this.totals.get(name);
    return before ? before.add(quantity(amount)) : quantity(amount);
  }

  amounts(): Amounts {
    return Object.fromEntries([...this.totals].map(([name, amount]) => [name, amount.toString()]));
  }
}

export function addResources(a: Readonly<Fields>, b: Readonly<Fields>): Amounts {
  return combine(a, b, (left, right) => left.add(right));
}

export function maxResources(a: Readonly<Fields>, b: Readonly<Fields>): Amounts {
  return combine(a, b, (left, right) => (left.compare(right) >= 0 ? left : right));
}

function combine(
  a: Readonly<Fields>,
  b: Readonly<Fields>,
  join: (left: Quantity, right: Quantity) => Quantity,
): Amounts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const left = Object.hasOwn(a, name) ? quantity(a[name]) : undefined;
      const right = Object.hasOwn(b, name) ? quantity(b[name]) : undefined;
      return [name, (left && right ? join(left, right) : (left ?? right ?? none)).toString()];
    }),
  );
}

export const compareAmounts = (a: unknown, b: unknown): number => quantity(a).compare(quantity(b));
export const sameAmount = (a: unknown, b: unknown): boolean => compareAmounts(a, b) === 0;
/** Whole units, as messages show them. */
export const wholeUnits = (amount: unknown): bigint => quantity(amount).toInteger();
export const isNegative = (amount: unknown): boolean => quantity(amount).sign < 0;
export const isPositive = (amount: unknown): boolean => quantity(amount).sign > 0;
export const isWhole = (amount: unknown): boolean =>
  quantity(amount).equals(Quantity.ofInteger(quantity(amount).toInteger()));

/** Of pages of 2Mi, 3Mi cannot be had. */
export function isWholeMultiple(amount: unknown, unit: string): boolean {
  const size = quantity(unit).toInteger();
  const wanted = quantity(amount).toInteger();
  return size > 0n && wanted > 0n && wanted % size === 0n;
}

/** How many times the second amount is in the first. */
export const amountRatio = (a: unknown, b: unknown): number => quantity(a).toNumber() / quantity(b).toNumber();
