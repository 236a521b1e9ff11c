/**
 * Reading and filling parts of objects whose shape only the code of their kind knows.
 * Reads never throw: what is absent, null or of another type reads as empty.
 */
export type Fields = Record<string, unknown>;

/** What is no object reads as a fresh empty one, so that a write to it harms nobody. */
export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The objects of a list, in place: an element that is no object reads as an empty one. */
export function asItems(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields) : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(asText) : [];
}

export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** What is at a path of fields: `['spec', 'replicas']`. Only objects have fields, and only those that are their own. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, field) => {
    const fields = asFields(inner);
    return Object.hasOwn(fields, field) ? fields[field] : undefined;
  }, value);
}

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A map of strings by its keys: labels, selectors, data. */
export function asTextMap(value: unknown): [string, string][] {
  return Object.entries(asFields(value)).map(([key, text]) => [key, asText(text)]);
}

/** The object in a field; made when there is none. */
export function makeFields(parent: Fields, field: string): Fields {
  const found = parent[field];
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Fields;
  const made: Fields = {};
  parent[field] = made;
  return made;
}

/** Sets a field that is absent. */
export function fillIn(parent: Fields, field: string, value: unknown): void {
  if (!isSet(parent[field])) parent[field] = value;
}

/** Sets a field that is absent or has the zero value of its type, where zero says nothing (`""`, 0). */
export function fillInZero(parent: Fields, field: string, value: string | number): void {
  if (!parent[field]) parent[field] = value;
}
