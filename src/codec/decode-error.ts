/** Bytes that are not what they claim to be. The message is meant for the client. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}
