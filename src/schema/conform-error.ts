/** The object cannot be of its type. The message is what the answer says behind "cannot be handled as a Pod: ". */
export class ConformError extends Error {
  override readonly name = 'ConformError';
  constructor(
    message: string,
    /** Where a value has another JSON type: what it is and what was wanted. Whoever embeds it knows the field. */
    readonly mismatch?: Mismatch,
  ) {
    super(message);
  }
}

export interface Mismatch {
  /** `string`, `object`, `number 1.5` */
  readonly given: string;
  /** `int32`, `[]v1.Container` */
  readonly wanted: string;
}
