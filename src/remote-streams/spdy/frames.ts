import type { SpdyHeaders } from './header-block.js';

export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const flagFin = 1;
export const flagUnidirectional = 2;

/** SPDY/3.1 writes version 3. */
export const spdyVersion = 3;
export const frameHeadBytes = 8;
/** The largest payload: lengths have 24 bits. */
export const payloadBytesMax = 2 ** 24 - 1;
export const streamIdMax = 2 ** 31 - 1;

interface StreamFrame {
  readonly streamId: number;
  readonly isFin: boolean;
  readonly headers: SpdyHeaders;
}

/** A frame that is not data. Settings are read but have no content here: flow control by windows is not used. */
export type ControlFrame =
  | ({ readonly type: 'synStream'; readonly isUnidirectional: boolean } & StreamFrame)
  | ({ readonly type: 'synReply' } & StreamFrame)
  | ({ readonly type: 'headers' } & StreamFrame)
  | { readonly type: 'rstStream'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings' }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway'; readonly lastStreamId: number; readonly status: number }
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number };

function control(type: number, flags: number, payload: readonly Buffer[], length: number): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt16BE(0x8000 | spdyVersion, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(length, 4);
  head[4] = flags;
  return Buffer.concat([head, ...payload], frameHeadBytes + length);
}

const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4));
  return bytes;
};

/** SYN_STREAM of the highest priority, with compressed headers. */
export function synStreamFrame(streamId: number, headers: Buffer): Buffer {
  const ids = Buffer.alloc(10);
  ids.writeUInt32BE(streamId, 0);
  return control(frameType.synStream, 0, [ids, headers], ids.length + headers.length);
}

export function synReplyFrame(streamId: number, headers: Buffer): Buffer {
  return control(frameType.synReply, 0, [words(streamId), headers], 4 + headers.length);
}

export const rstStreamFrame = (streamId: number, status: number): Buffer =>
  control(frameType.rstStream, 0, [words(streamId, status)], 8);

export const pingFrame = (id: number): Buffer => control(frameType.ping, 0, [words(id)], 4);

export const goAwayFrame = (lastStreamId: number, status: number): Buffer =>
  control(frameType.goAway, 0, [words(lastStreamId, status)], 8);

/** The head of a data frame, which `length` bytes follow. */
export function dataFrameHead(streamId: number, length: number, isFin: boolean): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt32BE(length, 4);
  head[4] = isFin ? flagFin : 0;
  return head;
}
