import { ApiError } from '../machinery/api-error.js';
import { StorageError } from '../storage/storage-error.js';

/** Converts a StorageError to the ApiError for clients. Returns other errors unchanged. */
export function storageToApiError(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  switch (error.code) {
    case 'compacted':
      return ApiError.expired('The resourceVersion for the provided list is too old.');
    case 'futureRevision':
      return ApiError.timeout(`Timeout: Too large resource version: ${error.message}`, 1, [
        { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
      ]);
    case 'tooLarge':
      return ApiError.requestEntityTooLarge(`Request entity too large: ${error.message}`);
    case 'full':
      return new ApiError({
        reason: 'InternalError',
        code: 507,
        message: `the store is full, nothing was written: ${error.message}`,
        cause: error,
      });
    case 'corrupt':
      return ApiError.internal(`the stored object cannot be read: ${error.message}`, error);
    case 'notEncrypted':
      return ApiError.internal(error.message, error);
    case 'outcomeUnknown':
      // Without Retry-After: clients repeat such requests by themselves, and a create that was made would then conflict.
      return ApiError.timeout(
        `the write may or may not have been made; read the object before repeating it: ${error.message}`,
      );
    case 'unavailable':
    case 'regressed':
    case 'locked':
    case 'closed':
      return ApiError.unavailable(`the store is not available: ${error.message}`, error);
  }
}

/** Awaits a call to the store and converts its errors. */
export async function fromStore<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw storageToApiError(error);
  }
}
