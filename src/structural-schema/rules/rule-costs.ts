import type { DeclaredType } from '../../cel/declared/declared-type.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';

/** Limits of kube-apiserver on the estimated costs of an expression, and of all expressions of a schema. */
const expressionCostMax = 10_000_000n;
const schemaCostMax = 100_000_000n;
const largestCost = 2n ** 64n - 1n;

const requestBytesMax = 3 * 1024 * 1024;

/** Times that a value of this type fits into a request. */
const occurrencesMax = ({ minSerializedSize }: DeclaredType): bigint =>
  BigInt(Math.floor(requestBytesMax / (minSerializedSize + 1)));

/**
 * Number of values that a schema may have in one object: the product of the bounds of the lists and maps around it;
 * undefined if one of them has no bound.
 */
export type Cardinality = bigint | undefined;

export function within(outer: Cardinality, bound: unknown): Cardinality {
  if (outer === undefined || (typeof bound !== 'number' && typeof bound !== 'bigint')) return undefined;
  return product(outer, BigInt(bound) < 0n ? 0n : BigInt(bound));
}

const product = (a: bigint, b: bigint): bigint => (a * b > largestCost ? largestCost : a * b);

/** Estimated costs of all expressions of a schema. */
export class SchemaCost {
  private total = 0n;
  private readonly large: FieldPath[] = [];

  /** Returns the error of an expression that may cost too much in one object. */
  add(costMax: bigint, type: DeclaredType, cardinality: Cardinality, what: string, at: FieldPath): FieldError[] {
    const cost = product(costMax, cardinality ?? occurrencesMax(type));
    this.addTotal(cost, at);
    return cost > expressionCostMax ? [fieldError.forbidden(at, tooMuch(what, cost, expressionCostMax))] : [];
  }

  addTotal(cost: bigint, at: FieldPath): void {
    this.total = this.total + cost > largestCost ? largestCost : this.total + cost;
    if (cost > schemaCostMax) this.large.push(at);
  }

  /** Returns the errors of a schema whose expressions cost too much together. */
  errors(at: FieldPath): FieldError[] {
    if (this.total <= schemaCostMax) return [];
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.large.map((path) =>
        fieldError.forbidden(
          path,
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
        ),
      ),
      fieldError.forbidden(at, tooMuch(what, this.total, schemaCostMax)),
    ];
  }
}

function tooMuch(what: string, cost: bigint, max: bigint): string {
  const factor = Number(cost) / Number(max);
  const times = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
