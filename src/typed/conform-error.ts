/** An object that does not fit its type. The message is the end of "cannot be handled as a Pod: …". */
export class ConformError extends Error {
  override readonly name = 'ConformError';
  constructor(
    message: string,
    /** The JSON type found and the Go type wanted. The caller prefixes the field. */
    readonly mismatch?: Mismatch,
  ) {
    super(message);
  }
}

export interface Mismatch {
  /** `string`, `object`, `number 1.5` */
  readonly found: string;
  /** `int32`, `[]v1.Container` */
  readonly wanted: string;
}
