/** What can go wrong in a store, whatever it is made of. Only registry/storage-to-api-error.ts turns these into answers. */
export type StorageErrorCode =
  /** The revision asked for is older than the history that is kept. */
  | 'compacted'
  /** The revision asked for has not been reached. */
  | 'futureRevision'
  /** The store cannot be reached or did not answer in time; a write may or may not have been made. */
  | 'unavailable'
  /** The value, or the whole transaction, is larger than the store takes. */
  | 'tooLarge'
  /** No room is left; nothing was written. */
  | 'full'
  /** What was read is not what was written. */
  | 'corrupt'
  /** Another process has the store open. */
  | 'locked'
  /** The store was closed by us. */
  | 'closed';

export class StorageError extends Error {
  override readonly name = 'StorageError';
  constructor(
    readonly code: StorageErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
