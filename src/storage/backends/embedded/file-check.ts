import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { StorageError } from '../../storage-error.js';

/**
 * Checks the data file before LMDB maps it. LMDB trusts its file: one that is not LMDB's, or is truncated, would crash
 * the process. On 64-bit little-endian machines a meta page holds, from the start of the page:
 *
 *   24 magic · 28 version · 48 page size · 144 last page · 152 transaction      (the younger of the two counts)
 *
 * No other process may have the file open meanwhile.
 */
export function checkFile(
  path: string,
  { isReadOnly, warn }: { isReadOnly: boolean; warn: (message: string, fields: Record<string, unknown>) => void },
): void {
  if (endianness() !== 'LE' || process.arch.endsWith('32') || process.arch === 'arm') return;
  const file = openSync(path, isReadOnly ? 'r' : 'r+');
  try {
    const { size } = fstatSync(file);
    // LMDB has not yet written to an empty file.
    if (size === 0) return;
    const wantedBytes = sizeByMeta(path, (bytes, position) => readSync(file, bytes, 0, bytes.length, position));
    if (wantedBytes <= size) return;
    if (isReadOnly)
      throw new StorageError('corrupt', `${path} is shorter than its header says: ${size} of ${wantedBytes} bytes`);
    // Pages at the end may never have been written, if they were freed before the commit. If they were lost, reads that
    // need them find zeros and report 'corrupt'.
    warn('the data file is shorter than its header says; extending it with zeros', { path, size, wantedBytes });
    ftruncateSync(file, wantedBytes);
  } finally {
    closeSync(file);
  }
}

const magic = 0xbeefc0de;

function sizeByMeta(path: string, read: (bytes: Buffer, position: number) => number): number {
  const first = readMeta(read, 0);
  const second = first && readMeta(read, first.pageBytes);
  if (!first || !second) throw new StorageError('corrupt', `${path} is not a data file of this server, or is damaged`);
  const { pageBytes, lastPage } = second.transaction > first.transaction ? second : first;
  return (lastPage + 1) * pageBytes;
}

function readMeta(read: (bytes: Buffer, position: number) => number, position: number) {
  const bytes = Buffer.alloc(160);
  if (read(bytes, position) < bytes.length || bytes.readUInt32LE(24) !== magic) return undefined;
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < 512 || pageBytes > 65_536) return undefined;
  return { pageBytes, lastPage: Number(bytes.readBigUInt64LE(144)), transaction: bytes.readBigUInt64LE(152) };
}
