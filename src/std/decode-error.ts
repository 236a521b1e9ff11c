/** Bytes that cannot be decoded. The message is meant for the client. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}
