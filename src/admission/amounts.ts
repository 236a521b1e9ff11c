import { asFields } from '../machinery/fields.js';
import { Quantity, QuantityError } from '../machinery/quantity.js';

/** Amounts by the name of what is counted: cpu, memory, requests.cpu, count/secrets. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const noAmounts: Amounts = new Map();
export const one = Quantity.ofInteger(1);
export const nothing = Quantity.ofInteger(0);

/** What cannot be read is left out: saying so is for validation. */
export function readAmounts(map: unknown): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [name, amount] of Object.entries(asFields(map))) {
    const quantity = readAmount(amount);
    if (quantity) amounts.set(name, quantity);
  }
  return amounts;
}

export function readAmount(amount: unknown): Quantity | undefined {
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined;
  try {
    return Quantity.parse(String(amount));
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

export function writeAmounts(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
}

export const sumOf = (...all: readonly Amounts[]): Amounts => sumOfAll(all);
export const sumOfAll = (all: readonly Amounts[]): Amounts => joined(all, (a, b) => a.add(b));
export const largestOf = (...all: readonly Amounts[]): Amounts => joined(all, (a, b) => (a.compare(b) >= 0 ? a : b));

export function difference(a: Amounts, b: Amounts): Amounts {
  return sumOf(a, new Map([...b].map(([name, amount]) => [name, amount.negate()])));
}

/** Those whose names are asked for. */
export function only(amounts: Amounts, names: { has(name: string): boolean }): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)));
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount));
}

/** `cpu=2,memory=1Gi`, by name. */
export function shownAmounts(amounts: Amounts): string {
  return [...amounts.keys()]
    .sort()
    .map((name) => `${name}=${amounts.get(name)!.toString()}`)
    .join(',');
}

function joined(all: readonly Amounts[], join: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const some of all) {
    for (const [name, amount] of some) {
      const other = amounts.get(name);
      amounts.set(name, other ? join(other, amount) : amount);
    }
  }
  return amounts;
}
