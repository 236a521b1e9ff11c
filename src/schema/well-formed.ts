/** Node has these; the library that types are checked against does not yet. */
interface Checkable {
  toWellFormed(): string;
}

/** Half of a surrogate pair cannot be written as UTF-8: readers of the text put the replacement character there. */
export function wellFormed(text: string): string {
  return (text as unknown as Checkable).toWellFormed();
}
