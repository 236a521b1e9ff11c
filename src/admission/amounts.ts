import { Quantity, QuantityError } from '../machinery/quantity.js';

/** A ResourceList with parsed quantities, by resource name: cpu, memory, requests.cpu, count/secrets. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const noAmounts: Amounts = new Map();
export const one = Quantity.ofInteger(1);
export const zero = Quantity.ofInteger(0);

/** Parses a ResourceList. Leaves out quantities that cannot be parsed: validation reports them. */
export function parseAmounts(list: Readonly<Record<string, string>> = {}): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(list)) {
    const quantity = parseAmount(text);
    if (quantity) amounts.set(name, quantity);
  }
  return amounts;
}

export function parseAmount(text: string | undefined): Quantity | undefined {
  if (text === undefined) return undefined;
  try {
    return Quantity.parse(text);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Formats amounts as a ResourceList. */
export function toResourceList(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
}

export const sumOf = (...all: readonly Amounts[]): Amounts => sumOfAll(all);
export const sumOfAll = (all: readonly Amounts[]): Amounts => combine(all, (a, b) => a.add(b));
export const largestOf = (...all: readonly Amounts[]): Amounts => combine(all, (a, b) => (a.compare(b) >= 0 ? a : b));

export function difference(a: Amounts, b: Amounts): Amounts {
  return sumOf(a, new Map([...b].map(([name, amount]) => [name, amount.negate()])));
}

/** Returns the amounts whose names are in the set. */
export function pickAmounts(amounts: Amounts, names: { has(name: string): boolean }): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)));
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount));
}

/** Formats amounts for messages, ordered by name: `cpu=2,memory=1Gi`. */
export function formatAmounts(amounts: Amounts): string {
  return [...amounts.keys()]
    .sort()
    .map((name) => `${name}=${amounts.get(name)!.toString()}`)
    .join(',');
}

function combine(all: readonly Amounts[], combineTwo: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const combined = new Map<string, Quantity>();
  for (const amounts of all) {
    for (const [name, amount] of amounts) {
      const other = combined.get(name);
      combined.set(name, other ? combineTwo(other, amount) : amount);
    }
  }
  return combined;
}

export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => !amount.isZero));
}
