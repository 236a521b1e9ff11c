/**
 * A text that two JSON values share exactly if they are deeply equal: what is compared with many others is compared by
 * it, in a Set or a Map. Texts have their length before them, so that two values cannot look like two others.
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
    // As in a comparison, an undefined field is none.
    if (fields[field] !== undefined) key += `${field.length}:${field}=${valueKey(fields[field])}`;
  }
  return `{${key}}`;
}

/** The values without those that are deeply equal to an earlier one. */
export function distinctValues<T>(values: readonly T[]): T[] {
  const seen = new Set<string>();
  return values.filter((value) => isFirst(seen, valueKey(value)));
}

/** For each value, true if it is deeply equal to an earlier one. */
export function repeatedValues(values: readonly unknown[]): boolean[] {
  const seen = new Set<string>();
  return values.map((value) => !isFirst(seen, valueKey(value)));
}

function isFirst(seen: Set<string>, key: string): boolean {
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}
