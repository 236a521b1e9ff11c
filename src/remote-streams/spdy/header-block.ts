import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { headerDictionary, headerDictionaryId } from './header-dictionary.js';
import { SpdyError } from './spdy-error.js';

/** Names in lower case. Several values of one name are separated by NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>;

export interface HeaderBounds {
  /** Headers of one frame. */
  readonly headersMax: number;
  /** Bytes of the headers of one frame after decompression. */
  readonly headerBytesMax: number;
}

/** The distance that deflate can refer back to. */
const windowBytes = 32 * 1024;
/** CMF and FLG: deflate with a window of 32 KiB and a preset dictionary, then the id of that. */
const zlibHead = Buffer.alloc(6);
zlibHead.writeUInt16BE(0x78bb, 0);
zlibHead.writeUInt32BE(headerDictionaryId, 2);

/**
 * All header blocks of one direction are one zlib stream, each ending with a sync flush, so on a byte. Each is therefore
 * compressed and decompressed by itself, synchronously, with what precedes it as the dictionary.
 */
class Window {
  private bytes: Buffer = headerDictionary;

  get dictionary(): Buffer {
    return this.bytes;
  }

  /** Empties it, for a stream that names no dictionary. */
  clear(): void {
    this.bytes = Buffer.alloc(0);
  }

  append(block: Buffer): void {
    const all = Buffer.concat([this.bytes, block]);
    this.bytes = all.subarray(Math.max(0, all.length - windowBytes));
  }
}

export class HeaderCompressor {
  private readonly window = new Window();
  private isBegun = false;

  compress(headers: SpdyHeaders): Buffer {
    const block = encodeBlock(headers);
    const deflated = deflateRawSync(block, {
      dictionary: this.window.dictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    this.window.append(block);
    if (this.isBegun) return deflated;
    this.isBegun = true;
    return Buffer.concat([zlibHead, deflated]);
  }
}

export class HeaderDecompressor {
  private readonly window = new Window();
  private isBegun = false;

  constructor(private readonly bounds: HeaderBounds) {}

  decompress(bytes: Buffer): SpdyHeaders {
    const { headerBytesMax } = this.bounds;
    const deflated = this.isBegun ? bytes : this.withoutZlibHead(bytes);
    this.isBegun = true;
    let block: Buffer;
    try {
      const { dictionary } = this.window;
      block = inflateRawSync(deflated, {
        ...(dictionary.length > 0 && { dictionary }),
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: headerBytesMax,
      });
    } catch (error) {
      throw new SpdyError(`headers are malformed, or longer than ${headerBytesMax} bytes`, { cause: error });
    }
    this.window.append(block);
    return decodeBlock(block, this.bounds);
  }

  private withoutZlibHead(bytes: Buffer): Buffer {
    if (bytes.length < 2) throw new SpdyError('the first headers are not a zlib stream');
    const head = bytes.readUInt16BE(0);
    if ((head & 0x0f00) !== 0x0800 || head % 31 !== 0) throw new SpdyError('the first headers are not a zlib stream');
    if ((head & 0x20) === 0) {
      this.window.clear();
      return bytes.subarray(2);
    }
    if (bytes.length < 6 || bytes.readUInt32BE(2) !== headerDictionaryId) {
      throw new SpdyError('headers are compressed with an unknown dictionary');
    }
    return bytes.subarray(6);
  }
}

function encodeBlock(headers: SpdyHeaders): Buffer {
  const parts: Buffer[] = [uint32(headers.size)];
  for (const [name, value] of headers) {
    for (const text of [name.toLowerCase(), value]) {
      const bytes = Buffer.from(text);
      parts.push(uint32(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function decodeBlock(block: Buffer, { headersMax }: HeaderBounds): SpdyHeaders {
  let offset = 0;
  const readLength = () => {
    if (offset + 4 > block.length) throw new SpdyError('headers end too early');
    const length = block.readUInt32BE(offset);
    offset += 4;
    return length;
  };
  const readText = () => {
    const length = readLength();
    if (length > block.length - offset) throw new SpdyError('headers end too early');
    offset += length;
    return block.toString('utf8', offset - length, offset);
  };
  const count = readLength();
  if (count > headersMax) throw new SpdyError(`a frame has more than ${headersMax} headers`);
  const headers = new Map<string, string>();
  for (let i = 0; i < count; i++) {
    const name = readText();
    if (name === '' || name !== name.toLowerCase()) throw new SpdyError('the name of a header is not in lower case');
    if (headers.has(name)) throw new SpdyError('a frame has two headers of the same name');
    headers.set(name, readText());
  }
  if (offset !== block.length) throw new SpdyError('bytes follow the last header');
  return headers;
}
