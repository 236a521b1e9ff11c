import type { Revision } from '../../../machinery/revision.js';
import type { KeyValue } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { crc32 } from '../../../std/crc32.js';

/**
 * Format 2. One tree holds four kinds of record, distinguished by the first byte of the key:
 *
 *   d <key>                       the state of a key: create-revision, mod-revision, checksum, summary, value
 *   h <key> 00 00 <revision>      history: the state that this revision replaced; empty when the key was absent
 *   l <revision>                  log: time, checksum, and per write its type and key
 *   m <name>                      meta: format, owner, floor
 *
 * A value is thus stored once: it moves from d to h when it is replaced. Numbers are big-endian, so that keys sort.
 * In h a zero byte of a key is written 00 01, so that a key's records are adjacent. The first bit of a state is set if it
 * has a summary, which begins with its length. Format 1 has no summaries and is read too.
 */
export const formatVersion = 2;
export const olderFormat = 1;
export const lmdbKeyBytesMax = 1_978;

export const metaKeys = {
  format: Buffer.from('mformat'),
  owner: Buffer.from('mowner'),
  floor: Buffer.from('mfloor'),
} as const;

export interface Bounds {
  readonly start: Buffer;
  /** Exclusive. */
  readonly end: Buffer;
}

export const stateKey = (key: string) => Buffer.from('d' + key);

export const keyOfStateKey = (bytes: Buffer) => bytes.toString('utf8', 1);

/** Returns the bounds of the states of keys from `from` on with the prefix; `from` must not be below it. */
export function stateBounds(prefix: string, from: string): Bounds {
  return { start: stateKey(from), end: pastPrefix(stateKey(prefix)) };
}

export function historyKey(key: string, revision: Revision): Buffer {
  const bytes = Buffer.from(`h${escapeZeros(key)}\0\0\0\0\0\0\0\0\0\0`);
  putRevision(bytes, bytes.length - 8, revision);
  return bytes;
}

/** Returns the bounds of the states of a key that were replaced at `from` or later. */
export function historyBoundsOfKey(key: string, from: Revision): Bounds {
  const start = historyKey(key, from);
  const end = Buffer.from(start);
  end.fill(0xff, end.length - 8);
  return { start, end };
}

export function historyBounds(prefix: string, from: string): Bounds {
  return {
    start: Buffer.from(`h${escapeZeros(from)}\0\0`),
    end: pastPrefix(Buffer.from(`h${escapeZeros(prefix)}`)),
  };
}

export function decodeHistoryKey(bytes: Buffer): { key: string; revision: Revision } {
  const key = bytes.toString('utf8', 1, bytes.length - 10);
  return {
    key: key.includes('\0') ? key.replaceAll('\0\x01', '\0') : key,
    revision: getRevision(bytes, bytes.length - 8),
  };
}

export function logKey(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = 0x6c;
  putRevision(bytes, 1, revision);
  return bytes;
}

export const revisionOfLogKey = (bytes: Buffer) => getRevision(bytes, 1);

const stateHeaderBytes = 20;
const summaryFlag = 0x80;
const summaryLengthBytes = 4;

export function encodeState({ key, value, createRevision, modRevision, summary }: KeyValue): Buffer {
  const start = stateHeaderBytes + (summary ? summaryLengthBytes + summary.length : 0);
  const bytes = Buffer.allocUnsafe(start + value.length);
  putRevision(bytes, 0, createRevision);
  putRevision(bytes, 8, modRevision);
  if (summary) {
    bytes[0]! |= summaryFlag;
    bytes.writeUInt32BE(summary.length, stateHeaderBytes);
    bytes.set(summary, stateHeaderBytes + summaryLengthBytes);
  }
  bytes.set(value, start);
  bytes.writeUInt32BE(checksumOfState(key, bytes), 16);
  return bytes;
}

export function decodeState(key: string, bytes: Buffer): KeyValue {
  if (bytes.length < stateHeaderBytes) throw corruptKey(key, `its record has ${bytes.length} bytes`);
  if (checksumOfState(key, bytes) !== bytes.readUInt32BE(16)) throw corruptKey(key, 'its checksum does not match');
  const createRevision = getRevision(bytes, 0);
  const modRevision = getRevision(bytes, 8);
  if ((bytes[0]! & summaryFlag) === 0) {
    return { key, value: bytes.subarray(stateHeaderBytes), createRevision, modRevision };
  }
  const summaryStart = stateHeaderBytes + summaryLengthBytes;
  const start = summaryStart + bytes.readUInt32BE(stateHeaderBytes);
  const summary = bytes.subarray(summaryStart, start);
  return { key, value: bytes.subarray(start), createRevision, modRevision, summary };
}

export interface LogOperation {
  readonly type: 'put' | 'delete';
  readonly key: string;
}

export interface LogRecord {
  readonly timeMs: number;
  readonly operations: readonly LogOperation[];
}

const logHeaderBytes = 12;

export function encodeLog(record: LogRecord): Buffer {
  const chunks: Buffer[] = [Buffer.alloc(logHeaderBytes)];
  for (const { type, key } of record.operations) {
    const bytes = Buffer.from(`\0\0\0${key}`);
    bytes[0] = type === 'put' ? 1 : 2;
    bytes.writeUInt16BE(bytes.length - 3, 1);
    chunks.push(bytes);
  }
  const bytes = Buffer.concat(chunks);
  bytes.writeDoubleBE(record.timeMs, 0);
  bytes.writeUInt32BE(checksumOfLog(bytes), 8);
  return bytes;
}

export function decodeLog(revision: Revision, bytes: Buffer): LogRecord {
  if (bytes.length < logHeaderBytes || checksumOfLog(bytes) !== bytes.readUInt32BE(8)) {
    throw corruptLog(revision, 'its checksum does not match');
  }
  const operations: LogOperation[] = [];
  for (let at = logHeaderBytes; at < bytes.length;) {
    const end = at + 3 + bytes.readUInt16BE(at + 1);
    operations.push({ type: bytes[at] === 1 ? 'put' : 'delete', key: bytes.toString('utf8', at + 3, end) });
    at = end;
  }
  return { timeMs: bytes.readDoubleBE(0), operations };
}

export function encodeRevision(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  putRevision(bytes, 0, revision);
  return bytes;
}

export const decodeRevision = (bytes: Buffer) => getRevision(bytes, 0);

export const corruptKey = (key: string, why: string) =>
  new StorageError('corrupt', `the stored state of ${key} is corrupt: ${why}`);

export const corruptLog = (revision: Revision, why: string) =>
  new StorageError('corrupt', `the log of revision ${revision} is corrupt: ${why}`);

function checksumOfState(key: string, bytes: Buffer): number {
  const seed = crc32(bytes.subarray(0, 16), crc32(Buffer.from(key)));
  return crc32(bytes.subarray(stateHeaderBytes), seed);
}

const checksumOfLog = (bytes: Buffer) => crc32(bytes.subarray(logHeaderBytes), crc32(bytes.subarray(0, 8)));

const escapeZeros = (key: string) => (key.includes('\0') ? key.replaceAll('\0', '\0\x01') : key);

/** Returns the first bytes after all that start with `prefix`. UTF-8 has no byte 0xFF, so the last byte can be incremented. */
function pastPrefix(prefix: Buffer): Buffer {
  prefix[prefix.length - 1]! += 1;
  return prefix;
}

function putRevision(bytes: Buffer, offset: number, revision: Revision): void {
  bytes.writeUInt32BE(Math.floor(revision / 0x1_0000_0000), offset);
  bytes.writeUInt32BE(revision % 0x1_0000_0000, offset + 4);
}

/** Returns a revision without the first bit, which is set in states with a summary. */
function getRevision(bytes: Buffer, offset: number): Revision {
  return ((bytes.readUInt32BE(offset) & 0x7fff_ffff) * 0x1_0000_0000 + bytes.readUInt32BE(offset + 4)) as Revision;
}
