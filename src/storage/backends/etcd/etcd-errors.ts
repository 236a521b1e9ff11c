import { StorageError, type StorageErrorCode } from '../../storage-error.js';
import { grpcStatus, NotConnectedError } from '../../../grpc/grpc-error.js';

/** Converts errors of etcd and of the connection to StorageError; the cause is kept. */
export function storageErrorOf(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const { code, details, message } = (error ?? {}) as { code?: unknown; details?: unknown; message?: unknown };
  const text = [details, message, error].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  return new StorageError(codeOf(code, text ?? ''), `etcd: ${text ?? 'unknown error'}`, { cause: error });
}

function codeOf(status: unknown, text: string): StorageErrorCode {
  if (status === grpcStatus.outOfRange) {
    if (text.includes('compacted')) return 'compacted';
    if (text.includes('future revision')) return 'futureRevision';
    if (text.includes('larger than max')) return 'tooLarge';
  }
  if (status === grpcStatus.invalidArgument && /request is too large|too many operations/.test(text)) return 'tooLarge';
  if (status === grpcStatus.resourceExhausted) {
    if (text.includes('database space exceeded')) return 'full';
    if (text.includes('larger than max')) return 'tooLarge';
  }
  if (status === grpcStatus.dataLoss) return 'corrupt';
  return 'unavailable';
}

/** True if a retry, perhaps at another member, may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  const transient: readonly unknown[] = [
    grpcStatus.cancelled,
    grpcStatus.unknown,
    grpcStatus.deadlineExceeded,
    grpcStatus.aborted,
    grpcStatus.internal,
    grpcStatus.unavailable,
  ];
  return transient.includes(code);
}

/** True if etcd surely did not make the write: it was not sent, or the member had no leader to pass it to. */
export function isNotProcessed(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true;
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown };
  return code === grpcStatus.unavailable && details === 'etcdserver: no leader';
}

export function closedError(): StorageError {
  return new StorageError('closed', 'the store was closed');
}
