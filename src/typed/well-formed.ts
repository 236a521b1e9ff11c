/** Methods of Node 20's String that TypeScript's library does not declare. */
interface Checkable {
  toWellFormed(): string;
}

/** Replaces lone surrogates, which have no UTF-8 encoding, by the replacement character, as decoding would. */
export function wellFormed(text: string): string {
  return (text as unknown as Checkable).toWellFormed();
}
