/**
 * The revision of a store transaction, incremented by each. A number (`Revision`) inside the server, an opaque string
 * (`resourceVersion`) for clients. Converted here only.
 */
declare const revisionBrand: unique symbol;
export type Revision = number & { readonly [revisionBrand]: true };

export const noRevision = 0 as Revision;

export function revisionOf(value: number | bigint | string): Revision {
  const revision = Number(value);
  if (!Number.isSafeInteger(revision) || revision < 0) throw new RangeError(`not a revision: ${value}`);
  return revision as Revision;
}
