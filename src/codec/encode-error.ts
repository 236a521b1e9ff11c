/**
 * An object that an encoding cannot represent: its kind is unknown to the encoding, or a field has a value of a wrong
 * type.
 */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}
