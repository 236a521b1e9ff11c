import { statfsSync } from 'node:fs';
import { StorageError, type StorageErrorCode } from '../../storage-error.js';

const errno = { EIO: 5, EFBIG: 27, ENOSPC: 28, EDQUOT: 122 } as const;
const codeOfLmdbError = new Map<unknown, StorageErrorCode>([
  [errno.ENOSPC, 'full'],
  [errno.EDQUOT, 'full'],
  [errno.EFBIG, 'full'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  [-30792, 'full'], // MDB_MAP_FULL
  [-30797, 'corrupt'], // MDB_PAGE_NOTFOUND
  [-30796, 'corrupt'], // MDB_CORRUPTED
  [-30793, 'corrupt'], // MDB_INVALID
  [-30794, 'corrupt'], // MDB_VERSION_MISMATCH
]);

export function storageError(path: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const { code, message } = cause as { code?: unknown; message?: string };
  // LMDB also returns EIO for a short write, which occurs on a full disk.
  const isShortWrite = code === errno.EIO && freeBytes(path) < scarceBytes;
  const storageCode = isShortWrite ? 'full' : (codeOfLmdbError.get(code) ?? 'unavailable');
  return new StorageError(storageCode, `${path}: ${message ?? String(cause)}`, { cause });
}

const scarceBytes = 64 * 1024 * 1024;

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
