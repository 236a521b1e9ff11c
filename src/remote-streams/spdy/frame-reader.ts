import {
  flagFin,
  flagUnidirectional,
  frameHeadBytes,
  frameType,
  spdyVersion,
  streamIdMax,
  type ControlFrame,
} from './frames.js';
import { HeaderDecompressor, type HeaderBounds } from './header-block.js';
import { SpdyError } from './spdy-error.js';

export interface FrameBounds extends HeaderBounds {
  /** Payload of a frame that is not data. */
  readonly controlBytesMax: number;
}

/** The receiver of frames. A data frame of any length is delivered in pieces, so it is never held as a whole. */
interface FrameSink {
  control(frame: ControlFrame): void;
  data(streamId: number, bytes: Buffer): void;
  dataEnd(streamId: number, isFin: boolean): void;
}

/** Reads frames from bytes that arrive in pieces of any size. push() throws SpdyError at a malformed frame. */
export class FrameReader {
  private readonly decompressor: HeaderDecompressor;
  /** Bytes of a frame head or a control frame that is not complete. */
  private pending: Buffer = Buffer.alloc(0);
  private isStopped = false;
  /** The data frame that is being received. */
  private open: { readonly streamId: number; readonly isFin: boolean; left: number } | undefined;

  constructor(
    private readonly bounds: FrameBounds,
    private readonly sink: FrameSink,
  ) {
    this.decompressor = new HeaderDecompressor(bounds);
  }

  push(chunk: Buffer): void {
    let rest = this.pending.length > 0 ? Buffer.concat([this.pending, chunk]) : chunk;
    while (!this.isStopped) {
      const taken = this.open ? this.takeData(this.open, rest) : this.takeFrame(rest);
      if (taken === 0) break;
      rest = rest.subarray(taken);
    }
    // A copy, since a slice would keep the whole chunk.
    this.pending = rest.length > 0 ? Buffer.from(rest) : rest;
  }

  /** Discards the frames that follow. */
  stop(): void {
    this.isStopped = true;
  }

  private takeData(open: NonNullable<FrameReader['open']>, bytes: Buffer): number {
    const length = Math.min(open.left, bytes.length);
    if (length === 0 && open.left > 0) return 0;
    open.left -= length;
    if (length > 0) this.sink.data(open.streamId, bytes.subarray(0, length));
    if (open.left > 0) return length;
    this.open = undefined;
    this.sink.dataEnd(open.streamId, open.isFin);
    return length;
  }

  /** Returns the bytes that were read: 0 if the frame is not complete. */
  private takeFrame(bytes: Buffer): number {
    if (bytes.length < frameHeadBytes) return 0;
    const first = bytes.readUInt32BE(0);
    const flags = bytes[4]!;
    const length = bytes.readUIntBE(5, 3);
    if (first <= streamIdMax) {
      if (first === 0) throw new SpdyError('data for stream 0');
      this.open = { streamId: first, isFin: (flags & flagFin) !== 0, left: length };
      // A frame without data ends at once.
      if (length === 0) this.takeData(this.open, Buffer.alloc(0));
      return frameHeadBytes;
    }
    if (((first >>> 16) & 0x7fff) !== spdyVersion) throw new SpdyError('a frame is not of SPDY/3');
    const { controlBytesMax } = this.bounds;
    if (length > controlBytesMax) throw new SpdyError(`a control frame has more than ${controlBytesMax} bytes`);
    const end = frameHeadBytes + length;
    if (bytes.length < end) return 0;
    this.sink.control(this.decode(first & 0xffff, flags, bytes.subarray(frameHeadBytes, end)));
    return end;
  }

  private decode(type: number, flags: number, payload: Buffer): ControlFrame {
    const isFin = (flags & flagFin) !== 0;
    switch (type) {
      case frameType.synStream: {
        const streamId = streamIdOf(payload, 10);
        const headers = this.decompressor.decompress(payload.subarray(10));
        return { type: 'synStream', streamId, isFin, isUnidirectional: (flags & flagUnidirectional) !== 0, headers };
      }
      case frameType.synReply:
      case frameType.headers: {
        const streamId = streamIdOf(payload, 4);
        const headers = this.decompressor.decompress(payload.subarray(4));
        return { type: type === frameType.synReply ? 'synReply' : 'headers', streamId, isFin, headers };
      }
      case frameType.rstStream: {
        const streamId = streamIdOf(payload, 8);
        const status = payload.readUInt32BE(4);
        if (payload.length !== 8 || status === 0) throw new SpdyError('RST_STREAM is malformed');
        return { type: 'rstStream', streamId, status };
      }
      case frameType.settings:
        if (payload.length < 4 || payload.length !== 4 + payload.readUInt32BE(0) * 8) {
          throw new SpdyError('SETTINGS is malformed');
        }
        return { type: 'settings' };
      case frameType.ping:
        if (payload.length !== 4 || flags !== 0 || payload.readUInt32BE(0) === 0) {
          throw new SpdyError('PING is malformed');
        }
        return { type: 'ping', id: payload.readUInt32BE(0) };
      case frameType.goAway:
        if (payload.length !== 8 || flags !== 0) throw new SpdyError('GOAWAY is malformed');
        return {
          type: 'goAway',
          lastStreamId: payload.readUInt32BE(0) & streamIdMax,
          status: payload.readUInt32BE(4),
        };
      case frameType.windowUpdate: {
        if (payload.length !== 8 || flags !== 0) throw new SpdyError('WINDOW_UPDATE is malformed');
        const delta = payload.readUInt32BE(4) & streamIdMax;
        if (delta === 0) throw new SpdyError('WINDOW_UPDATE is malformed');
        // Stream 0 is the session, in SPDY/3.1.
        return { type: 'windowUpdate', streamId: payload.readUInt32BE(0) & streamIdMax, delta };
      }
      default:
        throw new SpdyError(`a frame is of the unknown type ${type}`);
    }
  }
}

function streamIdOf(payload: Buffer, bytesMin: number): number {
  if (payload.length < bytesMin) throw new SpdyError('a control frame ends too early');
  const streamId = payload.readUInt32BE(0) & streamIdMax;
  if (streamId === 0) throw new SpdyError('a control frame for stream 0');
  return streamId;
}
