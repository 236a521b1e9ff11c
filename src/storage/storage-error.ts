/** Error codes of all backends. Only registry/storage-to-api-error.ts converts them to responses. */
export type StorageErrorCode =
  /** The requested revision is older than the kept history. */
  | 'compacted'
  /** The requested revision has not been reached. */
  | 'futureRevision'
  /** The store is unreachable, did not answer in time or refused the call; no write was made. */
  | 'unavailable'
  /** A write was sent, but its answer was lost or late: it may or may not have been made. */
  | 'outcomeUnknown'
  /** The store lost writes that it had acknowledged, or is another one: nothing that was read before holds. */
  | 'regressed'
  /** The value or the transaction exceeds the size limit of the store. */
  | 'tooLarge'
  /** No space is left; nothing was written. */
  | 'full'
  /** Stored data is corrupt. */
  | 'corrupt'
  /** The value could not be encrypted; nothing was written. */
  | 'notEncrypted'
  /** Another process has opened the store. */
  | 'locked'
  /** This server has closed the store. */
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
