import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../std/clock.js';
import { Deferred } from '../../std/deferred.js';
import { IdleTimer } from '../../std/idle-timer.js';
import { FrameReader, type FrameBounds } from './frame-reader.js';
import {
  dataFrameHead,
  goAwayFrame,
  payloadBytesMax,
  pingFrame,
  rstStreamFrame,
  streamIdMax,
  synReplyFrame,
  synStreamFrame,
  type ControlFrame,
} from './frames.js';
import { HeaderCompressor, type SpdyHeaders } from './header-block.js';
import { goAwayStatus, resetStatus, SpdyError } from './spdy-error.js';
import { SpdyStream } from './spdy-stream.js';
import { surviveFailedWrites } from './survive-failed-writes.js';

interface SpdyBounds extends FrameBounds {
  /** Streams that are open at the same time, of both sides; refused beyond. */
  readonly streamsMax: number;
  /** Memory of received data of all streams that are not consumed; the socket is not read beyond. */
  readonly unreadBytesMax: number;
  /** Answers to PING and SYN_STREAM, and resets, that the peer does not read; the connection ends beyond. */
  readonly unsentRepliesMax: number;
  /** Time without a frame in either direction. */
  readonly idleMsMax: number;
  /** Time for the peer to accept a stream. */
  readonly streamCreationMsMax: number;
  /** Time to send what is left after close(). */
  readonly closeMsMax: number;
}

const spdyBounds: SpdyBounds = {
  controlBytesMax: 16 * 1024,
  headersMax: 64,
  headerBytesMax: 16 * 1024,
  streamsMax: 2000,
  unreadBytesMax: 1024 * 1024,
  unsentRepliesMax: 4000,
  idleMsMax: 4 * 60 * 60 * 1000,
  streamCreationMsMax: 30_000,
  closeMsMax: 5_000,
};

export interface SpdyOptions {
  readonly clock: Clock;
  readonly isServer: boolean;
  /** Decides about a stream of the peer: false resets it. All are reset if absent. */
  readonly onStream?: (stream: SpdyStream) => boolean;
  /** Sends a PING after each such time. */
  readonly pingMs?: number | undefined;
  readonly bounds?: Partial<SpdyBounds>;
}

/** Sends and receives the frames of one connection, over a socket or a tunnel that is open already. */
export class SpdyConnection {
  /** Resolves when the connection has ended: with the error that ended it, undefined after an orderly end. */
  readonly closed: Promise<Error | undefined>;
  private readonly closing = new Deferred<Error | undefined>();
  private readonly bounds: SpdyBounds;
  private readonly reader: FrameReader;
  private readonly compressor = new HeaderCompressor();
  private readonly streams = new Map<number, SpdyStream>();
  private readonly awaited = new Map<number, Deferred<void>>();
  private nextStreamId: number;
  private lastRemoteId = 0;
  private nextPingId: number;
  private unsentReplies = 0;
  private unreadBytes = 0;
  private isOver = false;
  private isPaused = false;
  private isGoingAway = false;
  private readonly idle: IdleTimer;
  private pingTimer: Timer | undefined;

  constructor(
    private readonly socket: Duplex,
    private readonly options: SpdyOptions,
  ) {
    this.closed = this.closing.promise;
    this.bounds = { ...spdyBounds, ...options.bounds };
    this.nextStreamId = options.isServer ? 2 : 1;
    this.nextPingId = this.nextStreamId;
    this.idle = new IdleTimer(options.clock, this.bounds.idleMsMax, () =>
      this.fail(new SpdyError('the connection was idle for too long')),
    );
    this.reader = new FrameReader(this.bounds, {
      control: (frame) => this.receiveControl(frame),
      data: (streamId, bytes) => this.receiveData(streamId, bytes),
      dataEnd: (streamId, isFin) => {
        if (isFin) this.streams.get(streamId)?.receiveFin();
      },
    });
    surviveFailedWrites(socket);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.once('end', () => {
      this.end(undefined);
      socket.destroy();
    });
    socket.once('error', (error) => this.end(error));
    socket.once('close', () => this.end(undefined));
    this.schedulePing();
  }

  /** Opens a stream. Rejects if the peer refuses it, does not answer in time, or the connection ends. */
  async createStream(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.isOver || this.isGoingAway) throw new SpdyError('the connection has ended');
    if (this.nextStreamId > streamIdMax || this.streams.size >= this.bounds.streamsMax) {
      throw new SpdyError('the connection has too many streams');
    }
    const id = this.nextStreamId;
    this.nextStreamId += 2;
    const stream = this.add(id, headers);
    const accepted = new Deferred<void>();
    this.awaited.set(id, accepted);
    const timer = this.options.clock.after(this.bounds.streamCreationMsMax, () =>
      accepted.reject(new SpdyError('the stream was not accepted in time')),
    );
    this.send(synStreamFrame(id, this.compressor.compress(headers)));
    try {
      await accepted.promise;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      timer.cancel();
      this.awaited.delete(id);
    }
    return stream;
  }

  /** Resets the streams that are open, and ends the connection when all frames have been sent. */
  close(): void {
    if (this.isOver) return;
    for (const stream of [...this.streams.values()]) stream.destroy();
    this.finish(goAwayStatus.ok, undefined);
  }

  private receive(chunk: Buffer): void {
    if (this.isOver) return;
    this.idle.touch();
    try {
      this.reader.push(chunk);
    } catch (error) {
      this.fail(error instanceof Error ? error : new SpdyError(String(error)));
      return;
    }
  }

  private receiveControl(frame: ControlFrame): void {
    if (this.isOver) return;
    switch (frame.type) {
      case 'synStream':
        return this.receiveStream(frame);
      case 'synReply':
        this.awaited.get(frame.streamId)?.resolve();
        if (frame.isFin) this.streams.get(frame.streamId)?.receiveFin();
        return;
      case 'headers':
        if (frame.isFin) this.streams.get(frame.streamId)?.receiveFin();
        return;
      case 'rstStream':
        this.awaited.get(frame.streamId)?.reject(new SpdyError('the stream was refused'));
        this.streams.get(frame.streamId)?.receiveReset();
        return;
      case 'ping':
        // Ids of clients are odd. Answers to our own need no action: every frame counts as a sign of life.
        if (frame.id % 2 !== this.nextPingId % 2) this.reply(pingFrame(frame.id));
        return;
      case 'goAway':
        this.isGoingAway = true;
        for (const accepted of this.awaited.values()) accepted.reject(new SpdyError('the peer ends the connection'));
        if (this.streams.size === 0) this.finish(goAwayStatus.ok, undefined);
        return;
      case 'settings':
      case 'windowUpdate':
        // Windows are not used, as in the implementations of Kubernetes: they never send these frames.
        return;
    }
  }

  private receiveStream(frame: ControlFrame & { type: 'synStream' }): void {
    const { streamId, headers, isFin, isUnidirectional } = frame;
    const isOfPeer = (streamId % 2 === 1) === this.options.isServer;
    if (!isOfPeer || streamId <= this.lastRemoteId) throw new SpdyError(`stream ${streamId} has no valid id`);
    this.lastRemoteId = streamId;
    if (this.isGoingAway) return;
    if (this.streams.size >= this.bounds.streamsMax) return this.refuse(streamId, resetStatus.refusedStream);
    const stream = this.add(streamId, headers);
    if (isFin) stream.receiveFin();
    if (isUnidirectional) stream.closeLocal();
    if (this.options.onStream?.(stream) !== true) {
      stream.discard();
      return this.refuse(streamId, resetStatus.cancel);
    }
    if (!stream.destroyed) this.reply(synReplyFrame(streamId, this.compressor.compress(new Map())));
  }

  private receiveData(streamId: number, bytes: Buffer): void {
    const stream = this.streams.get(streamId);
    // Data may be under way when a stream is cancelled.
    if (!stream || this.isOver) return;
    if (!stream.receive(bytes)) {
      this.refuse(streamId, resetStatus.streamAlreadyClosed);
      stream.receiveReset();
    }
  }

  private add(id: number, headers: SpdyHeaders): SpdyStream {
    const stream = new SpdyStream(id, headers, {
      sendData: (streamId, bytes, isFin, done) => this.sendData(streamId, bytes, isFin, done),
      sendCancel: (streamId) => this.refuse(streamId, resetStatus.cancel),
      countUnread: (difference) => {
        this.unreadBytes += difference;
        this.pauseOrResume();
      },
      forget: (streamId) => this.forget(streamId),
    });
    // A write after the end is a fault of the writer, which must not end the process.
    stream.on('error', () => undefined);
    this.streams.set(id, stream);
    return stream;
  }

  private forget(streamId: number): void {
    this.streams.delete(streamId);
    if (this.isOver) return;
    if (this.isGoingAway && this.streams.size === 0) this.finish(goAwayStatus.ok, undefined);
  }

  private sendData(streamId: number, bytes: Buffer, isFin: boolean, done: () => void): void {
    if (this.isOver || this.socket.destroyed) return done();
    this.idle.touch();
    let offset = 0;
    this.socket.cork();
    do {
      const part = bytes.subarray(offset, offset + payloadBytesMax);
      offset += part.length;
      const isLast = offset >= bytes.length;
      this.socket.write(dataFrameHead(streamId, part.length, isFin && isLast));
      // The end of the connection tells of a failed write, not its stream.
      this.socket.write(part, isLast ? () => done() : undefined);
    } while (offset < bytes.length);
    this.socket.uncork();
  }

  private send(frame: Buffer, done?: () => void): void {
    if (this.isOver || this.socket.destroyed) return;
    this.socket.write(frame, done);
  }

  /** Sends a frame that the peer has caused. A peer that causes many and reads none is given up. */
  private reply(frame: Buffer): void {
    if (this.isOver) return;
    if (++this.unsentReplies > this.bounds.unsentRepliesMax) {
      return this.fail(new SpdyError('the peer does not read the answers to its frames'));
    }
    this.send(frame, () => this.unsentReplies--);
  }

  private refuse(streamId: number, status: number): void {
    this.reply(rstStreamFrame(streamId, status));
  }

  /** Stops reading while consumers lag, for all streams: SPDY of Kubernetes has no windows for single ones. */
  private pauseOrResume(): void {
    const isPaused = this.unreadBytes > this.bounds.unreadBytesMax;
    if (isPaused === this.isPaused || this.isOver) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  private schedulePing(): void {
    const { pingMs, clock } = this.options;
    if (pingMs === undefined) return;
    this.pingTimer = clock.after(pingMs, () => {
      // Not while the peer does not read: frames would pile up.
      if (!this.socket.writableNeedDrain) this.send(pingFrame(this.nextPingId));
      this.nextPingId = this.nextPingId + 2 > streamIdMax ? this.nextPingId % 2 || 2 : this.nextPingId + 2;
      this.schedulePing();
    });
  }

  private fail(error: Error): void {
    this.finish(goAwayStatus.protocolError, error);
  }

  /**
   * Sends GOAWAY, and closes the socket when the peer has closed it, or late: if received bytes were left unread then,
   * the peer could lose what was sent last.
   */
  private finish(status: number, error: Error | undefined): void {
    if (this.isOver) return;
    const { socket } = this;
    if (!socket.destroyed && !socket.writableEnded) {
      socket.end(goAwayFrame(this.lastRemoteId, status));
      const timer = this.options.clock.after(this.bounds.closeMsMax, () => socket.destroy());
      socket.once('close', () => timer.cancel());
    }
    this.end(error);
  }

  private end(error: Error | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader.stop();
    this.idle.cancel();
    this.pingTimer?.cancel();
    const reason = error ?? new SpdyError('the connection has ended');
    for (const accepted of this.awaited.values()) accepted.reject(reason);
    for (const stream of [...this.streams.values()]) stream.receiveReset();
    this.streams.clear();
    if (!this.socket.writableEnded) this.socket.destroy();
    this.socket.resume();
    this.closing.resolve(error);
  }
}
