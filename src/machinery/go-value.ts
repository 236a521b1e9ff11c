import { asFields, isSet } from './fields.js';

/** What a struct is made of: its fields in order, with what stands for an absent one, or how an inner struct is made. */
export type GoStruct = readonly (readonly [field: string, absent: unknown, inner?: (value: unknown) => unknown])[];

/**
 * An object as messages about it show it: under the names of the fields in Go, all of them, in their order. Clients
 * compare such messages with those of other servers.
 */
export function goStruct(value: unknown, fields: GoStruct): Record<string, unknown> {
  const object = asFields(value);
  return Object.fromEntries(
    fields.map(([field, absent, inner]) => {
      const found = object[field];
      return [goName(field), isSet(found) ? (inner ? inner(found) : found) : absent];
    }),
  );
}

/** `apiGroup` → `APIGroup`, `name` → `Name`. */
function goName(field: string): string {
  if (field.startsWith('api')) return `API${field.slice(3)}`;
  return field.slice(0, 1).toUpperCase() + field.slice(1);
}
