/**
 * A revision is a whole number that the store gives to each transaction, one higher than the last.
 * Inside the server it is a number (`Revision`); clients see it as an opaque text (`resourceVersion`).
 * The two meet here alone.
 */
declare const revisionBrand: unique symbol;
export type Revision = number & { readonly [revisionBrand]: true };

export const noRevision = 0 as Revision;

export function revisionOf(value: number | bigint | string): Revision {
  const revision = Number(value);
  if (!Number.isSafeInteger(revision) || revision < 0) throw new RangeError(`not a revision: ${value}`);
  return revision as Revision;
}
