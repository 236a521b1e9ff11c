/**
 * True if two JSON values mean the same to a typed server, as `equality.Semantic.DeepEqual` of Go: null, an absent
 * field, an empty list and an empty map are equal. So is an empty struct, which Go tells from a nil pointer, but JSON
 * does not tell from an empty map. Recursion is bounded by the codec's depth limit.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => semanticEqual(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const field of Object.keys(left)) {
    if (!semanticEqual(left[field], Object.hasOwn(right, field) ? right[field] : undefined)) return false;
  }
  return Object.keys(right).every((field) => Object.hasOwn(left, field) || isEmpty(right[field]));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
