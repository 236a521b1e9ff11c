/** What a filter makes of two values; undefined where they cannot be compared. */
export function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  if (!isComparable(left) || !isComparable(right)) return undefined;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return undefined;
  // By value, not strictly: a whole number may be a bigint on one side.
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
