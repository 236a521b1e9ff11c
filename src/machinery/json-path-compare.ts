/** Compares two values in a filter; undefined if they are not comparable. */
export function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  if (!isComparable(left) || !isComparable(right)) return undefined;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return undefined;
  // Not strictly: one side may be a bigint.
  const isEqual = left == right;
  if (operator === '==') return isEqual;
  if (operator === '!=') return !isEqual;
  if (kind === 'boolean') return undefined;
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return undefined;
  }
}

type Comparable = string | number | bigint | boolean;

function isComparable(value: unknown): value is Comparable {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

function kindOf(value: Comparable): string {
  return typeof value === 'bigint' ? 'number' : typeof value;
}
