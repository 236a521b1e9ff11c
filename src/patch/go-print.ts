/** Formats a value as Go's `%v`, as messages quote objects: `map[image:x name:c]`. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  const object = value as Record<string, unknown>;
  const names = Object.keys(object).sort();
  return `map[${names.map((name) => `${name}:${goPrint(object[name])}`).join(' ')}]`;
}

/** The Go type of a decoded JSON value. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
