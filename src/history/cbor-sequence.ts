import { decodeCbor } from '../codec/cbor-decoder.js';
import { DecodeError } from '../std/decode-error.js';
import type { JsonValue } from '../machinery/kube-object.js';

const major = { bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const;
/** Additional information 24 to 27 is followed by an argument of 1, 2, 4 or 8 bytes; 31 is an unknown length. */
const [argument8, argument64, unknownLength] = [24, 27, 31];
const indefinite = -1;
const breakByte = 0xff;
const depthMax = 1_000;
/** Several times the limit of etcd and of kube-apiserver on objects. */
const itemBytesMax = 16 * 1024 * 1024;
const valuesMax = 2_000_000;

/**
 * Finds the end of a data item without decoding it. Bytes may come in pieces: what was scanned once is not scanned again.
 * Throws DecodeError for nesting and lengths beyond the limits.
 */
class ItemScanner {
  private at = 0;
  /** Data items that each open array, map or tag still needs. */
  private readonly open: number[] = [];

  /** Returns the length of the first item; undefined if it goes on after `bytes`, which begin with that item. */
  end(bytes: Buffer): number | undefined {
    for (;;) {
      const step = this.step(bytes);
      if (step === 'incomplete') {
        if (bytes.length > itemBytesMax) throw new DecodeError(`an item has more than ${itemBytesMax} bytes`);
        return undefined;
      }
      if (step === 'complete' && this.isWhole()) return this.at;
    }
  }

  /** Reads the head of one data item, and the content of a string. */
  private step(bytes: Buffer): 'incomplete' | 'opened' | 'complete' {
    const initial = bytes[this.at];
    if (initial === undefined) return 'incomplete';
    if (initial === breakByte) {
      if (this.open.pop() !== indefinite) throw new DecodeError('a break is not at the end of an item');
      this.at++;
      return 'complete';
    }
    const [type, information] = [initial >> 5, initial & 31];
    const isUnknown = information === unknownLength && type >= major.bytes && type <= major.map;
    if (information > argument64 && !isUnknown) throw new DecodeError('a head is malformed');
    const size = information < argument8 || isUnknown ? 0 : 1 << (information - argument8);
    const start = this.at + 1 + size;
    if (start > bytes.length) return 'incomplete';
    const count = size === 0 ? information : numberIn(bytes, this.at + 1, size);
    const contentBytes = !isUnknown && (type === major.bytes || type === major.text) ? count : 0;
    if (contentBytes > itemBytesMax) throw new DecodeError(`an item has more than ${itemBytesMax} bytes`);
    if (start + contentBytes > bytes.length) return 'incomplete';
    this.at = start + contentBytes;
    const items = isUnknown ? indefinite : type === major.array ? count : type === major.map ? 2 * count : 0;
    const needed = type === major.tag ? 1 : items;
    if (needed === 0) return 'complete';
    if (this.open.push(needed) > depthMax) throw new DecodeError(`an item is nested deeper than ${depthMax}`);
    return 'opened';
  }

  /** Counts a complete data item in what contains it. True if nothing is open. */
  private isWhole(): boolean {
    for (;;) {
      const needed = this.open.pop();
      if (needed === undefined) return true;
      if (needed === indefinite || needed > 1) {
        this.open.push(needed === indefinite ? needed : needed - 1);
        return false;
      }
    }
  }
}

function numberIn(bytes: Buffer, at: number, size: number): number {
  return size === 8 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUIntBE(at, size);
}

/** An item of a sequence, with its bytes. */
interface SequenceItem {
  readonly bytes: Buffer;
  readonly value: JsonValue;
}

/** Reads the items of a CBOR sequence (RFC 8742). Throws DecodeError, also for bytes after the last whole item. */
export async function* readSequence(chunks: AsyncIterable<Buffer>): AsyncGenerator<SequenceItem> {
  let rest: Buffer = Buffer.alloc(0);
  let scanner = new ItemScanner();
  for await (const bytes of doubled(chunks, () => rest.length)) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (let end = scanner.end(rest); end !== undefined; end = scanner.end(rest)) {
      const item = rest.subarray(0, end);
      yield { bytes: item, value: decodeCbor(item, valuesMax) };
      rest = rest.subarray(end);
      scanner = new ItemScanner();
    }
  }
  if (rest.length > 0) throw new DecodeError('the last item is cut off');
}

/** Joins chunks until they have the length of what is waiting for them, so that a large item is not copied for each chunk. */
async function* doubled(chunks: AsyncIterable<Buffer>, waiting: () => number): AsyncGenerator<Buffer> {
  let joined: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    joined.push(chunk);
    length += chunk.length;
    if (length < waiting()) continue;
    yield joined.length === 1 ? chunk : Buffer.concat(joined, length);
    joined = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(joined, length);
}
