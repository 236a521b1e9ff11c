/** Codes of RST_STREAM. */
export const resetStatus = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  unsupportedVersion: 4,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
  streamInUse: 8,
  streamAlreadyClosed: 9,
} as const;

/** Codes of GOAWAY. */
export const goAwayStatus = { ok: 0, protocolError: 1, internalError: 2 } as const;

/** A violation of the protocol or of a limit by the peer, which ends the connection. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}
