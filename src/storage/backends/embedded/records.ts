import type { Revision } from '../../../machinery/revision.js';
import type { DeferredValue, KeyValue } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { crc32 } from '../../../std/crc32.js';

/**
 * Format 3. One tree holds five kinds of record, distinguished by the first byte of the key:
 *
 *   d <key>                       the state of a key: create-revision, mod-revision, checksum, summary, value
 *   v <key>                       the value of a state that has it apart: checksum, value
 *   h <key> 00 00 <revision>      history: the state that this revision replaced; empty when the key was absent
 *   l <revision>                  log: time, checksum, and per write its type and key
 *   m <name>                      meta: format, owner, floor
 *
 * A value is thus stored once: it moves from d or v to h when it is replaced. Numbers are big-endian, so that keys sort.
 * In h a zero byte of a key is written 00 01, so that a key's records are adjacent. The first bit of a state is set if it
 * has a summary, which begins with its length. The second bit is set if the value is apart: the state has its length instead, and
 * in h the record v follows. So a start, which needs only the summaries, reads few pages. Format 1 has no summaries, and in
 * format 2 no value is apart; both are read too.
 */
export const formatVersion = 3;
export const olderFormats: readonly number[] = [1, 2];
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

export const valueKey = (key: string) => Buffer.from('v' + key);

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
const apartFlag = 0x40;
const lengthBytes = 4;
const checksumBytes = 4;
/** Smaller values are read as fast as their length. */
const apartBytesMin = 1024;

/** The records of a state: its own, and that of its value if the value is apart. */
export interface StateRecords {
  readonly state: Buffer;
  readonly value: Buffer | undefined;
}

export function encodeState(item: KeyValue): StateRecords {
  const { key, value, createRevision, modRevision, summary } = item;
  const isApart = summary !== undefined && value.length >= apartBytesMin;
  const start = stateHeaderBytes + (summary ? lengthBytes + summary.length : 0);
  const state = Buffer.allocUnsafe(start + (isApart ? lengthBytes : value.length));
  putRevision(state, 0, createRevision);
  putRevision(state, 8, modRevision);
  if (summary) {
    state[0]! |= summaryFlag;
    state.writeUInt32BE(summary.length, stateHeaderBytes);
    state.set(summary, stateHeaderBytes + lengthBytes);
  }
  if (isApart) {
    state[0]! |= apartFlag;
    state.writeUInt32BE(value.length, start);
  } else {
    state.set(value, start);
  }
  state.writeUInt32BE(checksumOfState(key, state), 16);
  return { state, value: isApart ? encodeValue(item) : undefined };
}

function encodeValue({ key, value, modRevision }: KeyValue): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + value.length);
  bytes.set(value, checksumBytes);
  bytes.writeUInt32BE(checksumOfValue(key, modRevision, value), 0);
  return bytes;
}

/** Returns the history of a replaced state. */
export const encodeReplaced = ({ state, value }: StateRecords): Buffer =>
  value ? Buffer.concat([state, value]) : state;

/** Returns the record of a value that is apart. */
export type ReadValueRecord = () => Buffer | undefined;

export function decodeState(key: string, bytes: Buffer, readValue: ReadValueRecord): KeyValue {
  const head = decodeHead(key, bytes);
  const { createRevision, modRevision, summary, apart } = head;
  if (apart === undefined) {
    const value = bytes.subarray(head.end);
    return summary ? { key, value, createRevision, modRevision, summary } : { key, value, createRevision, modRevision };
  }
  const record = bytes.length > head.end ? bytes.subarray(head.end) : readValue();
  if (record?.length !== checksumBytes + apart) throw corruptKey(key, 'its value is missing or has another length');
  const value = record.subarray(checksumBytes);
  if (checksumOfValue(key, modRevision, value) !== record.readUInt32BE(0))
    throw corruptKey(key, 'the checksum of its value does not match');
  return { key, value, createRevision, modRevision, summary };
}

/** decodeState() that leaves a value that is apart to `read`. */
export function decodeDeferred(key: string, bytes: Buffer, read: DeferredValue['read']): KeyValue {
  const { createRevision, modRevision, summary, apart: length, end } = decodeHead(key, bytes);
  if (length !== undefined) {
    return { key, value: noValue, deferred: { length, read }, createRevision, modRevision, summary };
  }
  return { key, value: bytes.subarray(end), createRevision, modRevision, summary };
}

const noValue = Buffer.alloc(0);

interface StateHead {
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly summary: Buffer | undefined;
  /** The length of a value that is apart. */
  readonly apart: number | undefined;
  /** The position of what follows: the value, or in the history the record of the value that is apart. */
  readonly end: number;
}

function decodeHead(key: string, bytes: Buffer): StateHead {
  if (bytes.length < stateHeaderBytes) throw corruptKey(key, `its record has ${bytes.length} bytes`);
  const hasSummary = (bytes[0]! & summaryFlag) !== 0;
  const isApart = (bytes[0]! & apartFlag) !== 0;
  const start = stateHeaderBytes + lengthBytes;
  const summaryEnd =
    hasSummary && bytes.length >= start ? start + bytes.readUInt32BE(stateHeaderBytes) : stateHeaderBytes;
  const end = isApart ? summaryEnd + lengthBytes : summaryEnd;
  const isWhole = end <= bytes.length;
  const checked = isApart && end < bytes.length ? bytes.subarray(0, end) : bytes;
  if (!isWhole || checksumOfState(key, checked) !== bytes.readUInt32BE(16))
    throw corruptKey(key, 'its checksum does not match');
  return {
    createRevision: getRevision(bytes, 0),
    modRevision: getRevision(bytes, 8),
    summary: hasSummary ? bytes.subarray(start, summaryEnd) : undefined,
    apart: isApart ? bytes.readUInt32BE(summaryEnd) : undefined,
    end,
  };
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
  const seed = crc32(bytes.subarray(0, 16), crc32(key));
  return crc32(bytes.subarray(stateHeaderBytes), seed);
}

function checksumOfValue(key: string, modRevision: Revision, value: Buffer): number {
  return crc32(value, crc32(encodeRevision(modRevision), crc32(key)));
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

/** Returns a revision without the first two bits, which are flags of states. */
function getRevision(bytes: Buffer, offset: number): Revision {
  return ((bytes.readUInt32BE(offset) & 0x3fff_ffff) * 0x1_0000_0000 + bytes.readUInt32BE(offset + 4)) as Revision;
}
