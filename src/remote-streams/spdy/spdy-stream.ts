import { Duplex } from 'node:stream';
import { RingBuffer } from '../../std/ring-buffer.js';
import type { SpdyHeaders } from './header-block.js';

/** The connection, as a stream uses it. */
interface StreamOwner {
  /** Sends data; `done` is called when they have been passed to the socket. */
  sendData(streamId: number, bytes: Buffer, isFin: boolean, done: () => void): void;
  sendCancel(streamId: number): void;
  /** The memory of received data that wait for the consumer has changed. */
  countUnread(difference: number): void;
  /** The stream is closed in both directions. */
  forget(streamId: number): void;
}

/** Memory of a piece of received data besides its bytes: a process may write a byte at a time. */
const pieceBytes = 256;

/**
 * A stream of a SPDY connection. end() closes this direction only; destroy() cancels both. A stream that the peer resets,
 * or whose connection ends, delivers what has arrived and then ends as if the peer had closed it: servers of Kubernetes
 * end a finished command by resetting its streams. `isReset` and the event `reset` tell the difference.
 */
export class SpdyStream extends Duplex {
  /** True if it ended because the peer or the connection gave it up. */
  isReset = false;
  private isRemoteOpen = true;
  private isLocalOpen = true;
  private wantsData = false;
  private unread = new RingBuffer<Buffer>();
  private unreadBytes = 0;

  constructor(
    readonly id: number,
    readonly headers: SpdyHeaders,
    private readonly owner: StreamOwner,
  ) {
    // Data that nobody reads waits in `unread`, whose bytes count, and not in the buffer of the Readable.
    super({ allowHalfOpen: true, decodeStrings: true, readableHighWaterMark: 0 });
  }

  /** Delivers data of the peer. False if it has closed its direction before. */
  receive(bytes: Buffer): boolean {
    if (!this.isRemoteOpen) return false;
    if (this.destroyed) return true;
    if (this.wantsData && this.unread.length === 0) {
      this.wantsData = this.push(bytes);
    } else {
      // A copy: a small piece would keep all bytes that arrived with it.
      this.unread.push(bytes.length < pieceBytes ? Buffer.from(bytes) : bytes);
      this.countUnread(bytes.length + pieceBytes);
    }
    return true;
  }

  receiveFin(): void {
    if (!this.isRemoteOpen) return;
    this.isRemoteOpen = false;
    if (!this.destroyed && this.unread.length === 0) this.push(null);
  }

  /** Ends this direction without telling the peer, which has said that it takes no data. */
  closeLocal(): void {
    this.isLocalOpen = false;
    if (!this.destroyed && !this.writableEnded) this.end();
  }

  receiveReset(): void {
    if (this.isReset || this.destroyed) return;
    this.isReset = true;
    this.isLocalOpen = false;
    this.receiveFin();
    this.emit('reset');
    // Not by end(): what is still written has no effect instead of being an error.
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  /** Destroys it without telling the peer. */
  discard(): void {
    this.isRemoteOpen = false;
    this.isLocalOpen = false;
    this.destroy();
  }

  override _read(): void {
    this.wantsData = true;
    let length = 0;
    while (this.wantsData && this.unread.length > 0) {
      const bytes = this.unread.shift();
      length += bytes.length + pieceBytes;
      this.wantsData = this.push(bytes);
    }
    if (length === 0) return;
    this.countUnread(-length);
    if (!this.isRemoteOpen && this.unread.length === 0) this.push(null);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // As in other implementations, writing to a stream that was reset has no effect.
    if (!this.isLocalOpen) done();
    else this.owner.sendData(this.id, chunk, false, () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.isLocalOpen) return done();
    this.isLocalOpen = false;
    this.owner.sendData(this.id, Buffer.alloc(0), true, () => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.isRemoteOpen || this.isLocalOpen) this.owner.sendCancel(this.id);
    this.isRemoteOpen = false;
    this.isLocalOpen = false;
    this.unread = new RingBuffer();
    this.countUnread(-this.unreadBytes);
    this.owner.forget(this.id);
    done(error);
  }

  private countUnread(difference: number): void {
    this.unreadBytes += difference;
    this.owner.countUnread(difference);
  }
}
