/** An object that an encoding has no bytes for: its kind is unknown to it, or a field holds what its type cannot. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}
