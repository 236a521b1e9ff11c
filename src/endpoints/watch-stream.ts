import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cutAnswer } from '../connections/cut.js';
import type { AnyResponse } from '../connections/raw-messages.js';
import type { EventSink, Subscribe, Subscription } from '../cache/watch-request.js';
import { headersFor } from '../answers/answer.js';
import { sleep, type Clock, type Timer } from '../std/clock.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import type { FrameBatch } from './frame-batch.js';
import { WatchWrites, type PendingWrite } from './watch-writes.js';

/** Watches with a shorter timeout end without a bookmark, as in kube-apiserver. */
const closingBookmarkMsMin = 2000;
const endingStepMs = 100;

/** Frames that wait for one write; more wait in the history. */
const pendingBytesMax = 32 * 1024;

interface WatchStreamDependencies {
  readonly wheel: TimerWheel;
  readonly clock: Clock;
  /** A connection that accepts no bytes for this time is closed. */
  readonly writeStallTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
}

interface WatchStreamOptions {
  readonly contentType: string;
  readonly timeoutMs: number;
  /** Transforms the first frame: adds the column definitions of a Table. */
  readonly firstFrame?: ((frame: Buffer) => Buffer) | undefined;
  /** Called with the length of each frame. */
  readonly sent?: (bytes: number) => void;
}

/** The open watches of one server. */
export class WatchStreams {
  private readonly open = new Set<WatchStream>();
  private readonly writes: WatchWrites;
  private stopping = false;

  constructor(private readonly dependencies: WatchStreamDependencies) {
    this.writes = new WatchWrites(dependencies.clock);
  }

  get size(): number {
    return this.open.size;
  }

  /**
   * Sends the head and then the events of the subscription, until the client, the timeout or a shutdown ends the watch.
   */
  start(request: FastifyRequest, reply: FastifyReply, options: WatchStreamOptions, subscribe: Subscribe): void {
    if (!request.kube.claimAnswer()) return;
    reply.hijack();
    request.kube.isStreaming = true;
    const recorded = request.kube.audit?.started(200);
    if (recorded) void recorded.then(() => this.send(request, reply, options, subscribe));
    else this.send(request, reply, options, subscribe);
  }

  private send(request: FastifyRequest, reply: FastifyReply, options: WatchStreamOptions, subscribe: Subscribe): void {
    // The client may have left while the audit log was written.
    if (reply.raw.destroyed) return;
    const headers = headersFor(request, options.contentType);
    reply.raw.writeHead(200, headers as never);
    if (request.raw.method === 'HEAD') {
      reply.raw.end();
      return;
    }
    if ('flushHeaders' in reply.raw) reply.raw.flushHeaders();
    // With an unread request body, Node emits no event when the client closes the connection.
    request.raw.resume();
    const { dependencies, writes } = this;
    const stream = new WatchStream(reply.raw, writes, dependencies, options, () => this.open.delete(stream));
    this.open.add(stream);
    stream.begin(request.kube.changedWatch(subscribe));
    // An open watch occupies no seat: its work is estimated with the writes whose events it gets.
    request.kube.flow?.finish();
    if (this.stopping) stream.finish();
  }

  /**
   * Ends all watches with a bookmark, spread evenly over `overMs`, so that their clients do not all reconnect to
   * another server at the same time.
   */
  async endAll(clock: Clock, overMs = 0): Promise<void> {
    this.stopping = true;
    const streams = [...this.open];
    const steps = Math.min(streams.length, Math.ceil(overMs / endingStepMs));
    const perStep = Math.ceil(streams.length / Math.max(steps, 1));
    for (let at = 0; at < streams.length; at += perStep) {
      if (at > 0) await sleep(clock, endingStepMs);
      for (const stream of streams.slice(at, at + perStep)) stream.finish();
    }
  }
}

interface RawStream {
  write(frame: Buffer): boolean;
  end(): void;
  destroy(): void;
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  /** Set on HTTP/1.1 responses once their head is sent. */
  readonly chunkedEncoding?: boolean;
  readonly socket: unknown;
}

/**
 * Returns the socket for writing chunks directly, since Node writes each chunk in three pieces. Undefined for HTTP/2
 * and HTTP/1.0, and for a pipelined response that waits for earlier ones on its connection.
 */
function chunkSocket({ chunkedEncoding, socket }: RawStream): Socket | undefined {
  return chunkedEncoding === true && socket instanceof Socket ? socket : undefined;
}

/** One watch: receives events from the cache, and ends after its timeout. */
class WatchStream implements EventSink, PendingWrite {
  private subscription: Subscription | undefined = undefined;
  private readonly timers: Timer[] = [];
  private stall: Timer | undefined = undefined;
  private pending: FrameBatch | undefined = undefined;
  private isFirst = true;
  /** True while the connection accepts no more bytes. */
  private isFull = false;
  /** True if the subscription waits for drained(). */
  private isHeld = false;
  private isDone = false;
  private readonly socket: Socket | undefined;
  private readonly onDrain = (): void => {
    this.stall?.cancel();
    this.stall = undefined;
    this.isFull = false;
    this.resume();
  };

  constructor(
    readonly raw: RawStream,
    private readonly writes: WatchWrites,
    private readonly dependencies: WatchStreamDependencies,
    private readonly options: WatchStreamOptions,
    private readonly forget: () => void,
  ) {
    this.socket = chunkSocket(raw);
  }

  begin(subscribe: Subscribe): void {
    const { wheel, bookmarkIntervalMs } = this.dependencies;
    this.raw.on('close', () => this.dispose());
    this.raw.on('error', () => this.dispose());
    if (this.socket) this.socket.on('drain', this.onDrain);
    else this.raw.on('drain', this.onDrain);
    const subscription = subscribe(this);
    // Subscribing may have sent an event that ended the watch.
    if (this.isDone) return subscription.close();
    this.subscription = subscription;
    const { timeoutMs } = this.options;
    // A very short watch ends without a bookmark.
    this.timers.push(wheel.after(timeoutMs, () => (timeoutMs < closingBookmarkMsMin ? this.end() : this.finish())));
    const bookmark = () => {
      if (this.isDone) return;
      subscription.sendBookmark();
      this.timers[1] = wheel.after(bookmarkIntervalMs, bookmark);
    };
    this.timers.push(wheel.after(bookmarkIntervalMs, bookmark));
  }

  write(frame: Buffer): boolean {
    if (this.isDone) return false;
    const bytes = this.isFirst && this.options.firstFrame ? this.options.firstFrame(frame) : frame;
    this.isFirst = false;
    this.options.sent?.(bytes.length);
    this.pending = this.pending ? this.pending.with(bytes) : this.writes.begin(this, bytes);
    this.isHeld = this.isFull || this.pending.length >= pendingBytesMax;
    return !this.isHeld;
  }

  flush(): number {
    const { pending } = this;
    if (!pending || this.isDone) return 0;
    this.pending = undefined;
    const isOpen = this.socket ? this.socket.write(pending.chunk) : this.raw.write(pending.bytes);
    if (!isOpen) {
      this.isFull = true;
      this.stall ??= this.dependencies.wheel.after(this.dependencies.writeStallTimeoutMs, () =>
        cutAnswer(this.raw as unknown as AnyResponse),
      );
    }
    this.resume();
    return pending.count;
  }

  end(): void {
    if (this.isDone) return;
    this.flush();
    this.dispose();
    this.raw.end();
  }

  /** Sends a bookmark, so that the client can resume without reading events twice, and ends the watch. */
  finish(): void {
    if (this.isDone) return;
    this.subscription?.sendBookmark();
    this.end();
  }

  private resume(): void {
    if (!this.isHeld || this.isFull || this.pending) return;
    this.isHeld = false;
    this.subscription?.drained();
  }

  private dispose(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.pending = undefined;
    this.socket?.off('drain', this.onDrain);
    this.stall?.cancel();
    for (const timer of this.timers) timer.cancel();
    this.subscription?.close();
    this.forget();
  }
}
