/** True if two JSON values are equal regardless of field order. Recursion is bounded by the codec's depth limit. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let fields = 0;
  for (const field in left) {
    if (left[field] === undefined) continue;
    fields++;
    if (right[field] === undefined || !deepEqual(left[field], right[field])) return false;
  }
  for (const field in right) if (right[field] !== undefined) fields--;
  return fields === 0;
}
