import { isUtf8 } from 'node:buffer';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { RecentTexts } from '../std/recent-texts.js';
import { fromHalf } from './cbor-float.js';
import { majorTypes } from './cbor-writer.js';
import { jsonDepthMax } from './json.js';
import { MetadataPath } from './metadata-path.js';
import { ValueBudget } from './value-budget.js';

/** Tags that announce the encoding of a byte string in JSON (RFC 8949, 3.4.5.2). */
const laterEncodings: ReadonlyMap<number, BufferEncoding> = new Map([
  [21, 'base64url'],
  [22, 'base64'],
  [23, 'hex'],
]);
const tags = { timeText: 0, timeNumber: 1, bignum: 2, negativeBignum: 3 } as const;
const indefinite = -1;
const breakByte = 0xff;

const texts = new RecentTexts((bytes, start, end) => {
  if (!isUtf8(bytes.subarray(start, end))) throw new DecodeError('cbor: invalid UTF-8 string');
  return bytes.toString('utf8', start, end);
});

/** Decodes one data item as a JSON value. Trailing bytes, and items that have no JSON value, throw DecodeError. */
export function decodeCbor(bytes: Uint8Array, valuesMax = Infinity): JsonValue {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) throw new DecodeError('EOF');
  return new CborDecoder(buffer, new ValueBudget(valuesMax)).whole();
}

class CborDecoder {
  private at = 0;
  private readonly path = new MetadataPath();
  private majorType = 0;
  private additional = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly values: ValueBudget,
  ) {}

  whole(): JsonValue {
    const value = this.value(0);
    const { at, bytes } = this;
    if (at < bytes.length) {
      throw new DecodeError(`cbor: ${bytes.length - at} bytes of extraneous data starting at index ${at}`);
    }
    return value;
  }

  private value(depth: number): JsonValue {
    this.values.take();
    this.readInitial();
    switch (this.majorType) {
      case majorTypes.unsigned:
        return this.unsigned();
      case majorTypes.negative:
        return this.negative();
      case majorTypes.bytes:
      case majorTypes.text:
        return this.text();
      case majorTypes.array:
        return this.array(depth);
      case majorTypes.map:
        return this.map(depth);
      case majorTypes.tag:
        return this.tagged(depth);
      default:
        return this.simple();
    }
  }

  private unsigned(): JsonValue {
    const value = this.argument();
    if (typeof value === 'number') return value;
    return within64Bits(value);
  }

  private negative(): JsonValue {
    const value = this.argument();
    if (typeof value === 'number' && value < Number.MAX_SAFE_INTEGER) return -1 - value;
    return within64Bits(-1n - BigInt(value));
  }

  private array(depth: number): JsonValue[] {
    checkDepth(depth);
    const count = this.count();
    const items: JsonValue[] = [];
    while (count === indefinite ? !this.atBreak() : items.length < count) items.push(this.value(depth + 1));
    return items;
  }

  private map(depth: number): JsonObject {
    checkDepth(depth);
    const count = this.count();
    const map: JsonObject = {};
    this.path.open();
    for (let read = 0; count === indefinite ? !this.atBreak() : read < count; read++) {
      const key = this.key();
      if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
      if (Object.hasOwn(map, key)) throw new DecodeError(`cbor: found duplicate map key ${JSON.stringify(key)}`);
      const hasEntered = this.path.isManagedFields(key) && this.values.enterManagedFields();
      map[key] = this.value(depth + 1);
      if (hasEntered) this.values.leaveManagedFields();
    }
    this.path.close();
    return map;
  }

  private key(): string {
    this.readInitial();
    if (this.majorType !== majorTypes.bytes && this.majorType !== majorTypes.text) {
      throw new DecodeError('cbor: map keys must be strings');
    }
    return this.text();
  }

  private tagged(depth: number): JsonValue {
    checkDepth(depth);
    const tag = this.argument();
    if (tag === tags.bignum || tag === tags.negativeBignum) throw new DecodeError('cbor: bignums are not supported');
    const encoding = laterEncodings.get(tag as number);
    if (encoding !== undefined && this.bytes[this.at]! >> 5 === majorTypes.bytes) {
      this.readInitial();
      return this.stringBytes().toString(encoding);
    }
    const value = this.value(depth + 1);
    if (tag === tags.timeText) return timeOfText(value);
    if (tag === tags.timeNumber) return timeOfNumber(value);
    // Other tags have no meaning in JSON, among them the self-described CBOR tag 55799.
    return value;
  }

  private simple(): JsonValue {
    switch (this.additional) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 25:
        return finite(fromHalf(this.bytes.readUInt16BE(this.advance(2))));
      case 26:
        return finite(this.bytes.readFloatBE(this.advance(4)));
      case 27:
        return finite(this.bytes.readDoubleBE(this.advance(8)));
      case 31:
        throw new DecodeError('cbor: unexpected "break" code');
      default:
        throw new DecodeError(`cbor: simple value ${this.additional} is not allowed`);
    }
  }

  private text(): string {
    if (this.additional !== 31) {
      const length = this.length();
      const start = this.advance(length);
      return texts.of(this.bytes, start, this.at);
    }
    const joined = this.stringBytes();
    return texts.of(joined, 0, joined.length);
  }

  /** Content of a string, which may be split into chunks. */
  private stringBytes(): Buffer {
    if (this.additional !== 31) {
      const length = this.length();
      const start = this.advance(length);
      return this.bytes.subarray(start, this.at);
    }
    const { majorType } = this;
    const pieces: Buffer[] = [];
    while (!this.atBreak()) {
      this.readInitial();
      if (this.majorType !== majorType || this.additional === 31) {
        throw new DecodeError('cbor: wrong element type in an indefinite-length string');
      }
      // A chunk costs as much as a value.
      this.values.take();
      pieces.push(this.stringBytes());
    }
    return Buffer.concat(pieces);
  }

  private atBreak(): boolean {
    if (this.at === this.bytes.length) throw unexpectedEnd();
    if (this.bytes[this.at] !== breakByte) return false;
    this.at++;
    return true;
  }

  private readInitial(): void {
    if (this.at === this.bytes.length) throw unexpectedEnd();
    const byte = this.bytes[this.at++]!;
    this.majorType = byte >> 5;
    this.additional = byte & 0x1f;
  }

  /**
   * The number of items in a list or map. Each item takes at least one byte, so a count beyond the remaining bytes is
   * refused before anything is read.
   */
  private count(): number {
    if (this.additional === 31) return indefinite;
    const count = this.length();
    if (count > this.bytes.length - this.at) throw unexpectedEnd();
    return count;
  }

  private length(): number {
    const length = this.argument();
    if (typeof length === 'bigint') throw unexpectedEnd();
    return length;
  }

  /** The argument of the item's head; a bigint if a double would lose digits. */
  private argument(): number | bigint {
    const { additional, bytes } = this;
    if (additional < 24) return additional;
    if (additional === 24) return bytes[this.advance(1)]!;
    if (additional === 25) return bytes.readUInt16BE(this.advance(2));
    if (additional === 26) return bytes.readUInt32BE(this.advance(4));
    if (additional !== 27) throw new DecodeError(`cbor: invalid additional information ${additional}`);
    const exact = bytes.readBigUInt64BE(this.advance(8));
    return exact <= Number.MAX_SAFE_INTEGER ? Number(exact) : exact;
  }

  private advance(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw unexpectedEnd();
    this.at = start + count;
    return start;
  }
}

const unexpectedEnd = () => new DecodeError('unexpected EOF');

/** Limits depth as JSON does: the value may be encoded as JSON later. */
function checkDepth(depth: number): void {
  if (depth >= jsonDepthMax) throw new DecodeError('exceeded max depth');
}

/** Returns large integers as bigints, as for JSON: see json.ts. */
function within64Bits(value: bigint): JsonValue {
  if (BigInt.asIntN(64, value) !== value) throw new DecodeError(`cbor: ${value} overflows Go's int64`);
  return value;
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new DecodeError(`cbor: ${value} is no number in JSON`);
  return value;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function timeOfText(value: JsonValue): string {
  if (typeof value !== 'string' || !rfc3339.test(value) || Number.isNaN(Date.parse(value))) {
    throw new DecodeError('cbor: a tagged time is no time');
  }
  return value;
}

function timeOfNumber(value: JsonValue): string {
  const date = new Date(typeof value === 'number' ? value * 1000 : NaN);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new DecodeError('cbor: a tagged time is no time');
  return date.toISOString().replace(/\.?0+Z$/, 'Z');
}
