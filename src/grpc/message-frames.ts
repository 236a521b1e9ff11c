import { GrpcError, grpcStatus, MalformedMessageError } from './grpc-error.js';

/** The gRPC header of a message: one byte for compression, four for the length. */
export const frameHeaderBytes = 5;
/** Larger than any etcd response; a greater length means corruption. */
const messageBytesMaxDefault = 512 * 1024 * 1024;

/**
 * Splits the content of DATA frames into messages. A message that arrived in one piece is not copied; the pieces of a
 * large one are collected and joined once:
 *
 *   header 20,000 | 16,379 bytes    3,621 bytes, header 3 | abc
 *   '-- kept ------------------'    '-- joined: 1st -'  '- 2nd, as it is
 */
export class MessageFrames {
  private pieces: Buffer[] = [];
  private keptBytes = 0;
  /** The number of bytes after which the next message may be complete. */
  private neededBytes = frameHeaderBytes;

  constructor(
    private readonly deliver: (message: Buffer) => void,
    private readonly messageBytesMax = messageBytesMaxDefault,
  ) {}

  /** True if the last message is incomplete. */
  get isPending(): boolean {
    return this.keptBytes > 0;
  }

  push(chunk: Buffer): void {
    if (this.keptBytes === 0) return this.cut(chunk);
    this.pieces.push(chunk);
    this.keptBytes += chunk.length;
    if (this.keptBytes < this.neededBytes) return;
    const joined = Buffer.concat(this.pieces, this.keptBytes);
    this.pieces = [];
    this.keptBytes = 0;
    this.cut(joined);
  }

  private cut(bytes: Buffer): void {
    let at = 0;
    this.neededBytes = frameHeaderBytes;
    while (bytes.length - at >= frameHeaderBytes) {
      const length = lengthAt(bytes, at, this.messageBytesMax);
      const end = at + frameHeaderBytes + length;
      if (end > bytes.length) {
        this.neededBytes = frameHeaderBytes + length;
        break;
      }
      this.deliver(bytes.subarray(at + frameHeaderBytes, end));
      at = end;
    }
    if (at === bytes.length) return;
    this.pieces.push(at === 0 ? bytes : bytes.subarray(at));
    this.keptBytes = bytes.length - at;
  }
}

function lengthAt(bytes: Buffer, at: number, messageBytesMax: number): number {
  if (bytes[at] !== 0) throw new MalformedMessageError('unexpected compressed message');
  const length = bytes.readUInt32BE(at + 1);
  if (length > messageBytesMax) {
    throw new GrpcError(
      grpcStatus.resourceExhausted,
      `received message larger than max (${length} vs. ${messageBytesMax})`,
    );
  }
  return length;
}
