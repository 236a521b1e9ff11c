/**
 * Returns a text that is equal for two JSON values exactly if they are deeply equal, for use in a Set or Map. Strings
 * are preceded by their length, so that different values cannot collide.
 */
export function valueKey(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `s${value.length}:${value}`;
    case 'bigint':
      return `b${value};`;
    case 'object':
      break;
    default:
      return `${String(value)};`;
  }
  if (value === null) return 'null;';
  let key = '';
  if (Array.isArray(value)) {
    for (const item of value) key += valueKey(item);
    return `[${key}]`;
  }
  const fields = value as Record<string, unknown>;
  for (const field of Object.keys(fields).sort()) {
    // An undefined field counts as absent, as in deepEqual().
    if (fields[field] !== undefined) key += `${field.length}:${field}=${valueKey(fields[field])}`;
  }
  return `{${key}}`;
}

/** Returns the values without deep duplicates. */
export function distinctValues<T>(values: readonly T[]): T[] {
  const seen = new Set<string>();
  return values.filter((value) => isFirst(seen, valueKey(value)));
}

/** Returns for each value whether it is deeply equal to an earlier one. */
export function repeatedValues(values: readonly unknown[]): boolean[] {
  const seen = new Set<string>();
  return values.map((value) => !isFirst(seen, valueKey(value)));
}

function isFirst(seen: Set<string>, key: string): boolean {
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}
