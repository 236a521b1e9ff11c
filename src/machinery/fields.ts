/** Reads and fills in fields of untyped objects. Reads never throw: absent, null and mistyped values read as empty. */
export type Fields = Record<string, unknown>;

/** Returns a new empty object for any other value, so that writes to it have no effect. */
export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns the items of a list as objects. Items of other types become empty objects, to keep positions. */
export function asItems(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields) : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(asText) : [];
}

/** Returns the nearest double for a bigint: compare an int64 directly, which is exact. */
export function asNumber(value: unknown): number {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : 0;
}

/** Returns the value at a path of own fields: `['spec', 'replicas']`. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, field) => {
    const fields = asFields(inner);
    return Object.hasOwn(fields, field) ? fields[field] : undefined;
  }, value);
}

/** Splits a JSON path that only names fields, for valueAt(): `.spec.replicas` → `['spec', 'replicas']`. */
export const fieldsOfPath = (path: string): string[] => path.split('.').filter((field) => field !== '');

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns the object in a field, after creating it if it is absent. */
export function makeFields(parent: Fields, field: string): Fields {
  const found = parent[field];
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Fields;
  const created: Fields = {};
  parent[field] = created;
  return created;
}

/** Sets a field if it is absent. */
export function fillIn(parent: Fields, field: string, value: unknown): void {
  if (!isSet(parent[field])) parent[field] = value;
}
