/** Counts the objects, lists and scalars of a JSON value including itself. Stops when there are more than `max`. */
export function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  if (Array.isArray(value)) {
    for (const item of value) {
      count += typeof item === 'object' && item !== null ? countValues(item, max - count) : 1;
      if (count > max) break;
    }
    return count;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const part = fields[name];
    count += typeof part === 'object' && part !== null ? countValues(part, max - count) : 1;
    if (count > max) break;
  }
  return count;
}
