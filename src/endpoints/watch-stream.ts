import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cutAnswer } from '../connections/cut.js';
import type { AnyResponse } from '../connections/raw-messages.js';
import type { EventSink, Subscription } from '../cache/watch-request.js';
import { headersFor } from '../hooks/answer.js';
import { sleep, type Clock, type Timer } from '../std/clock.js';
import type { TimerWheel } from '../std/timer-wheel.js';

/** As clients of the reference know it: shorter watches end without a bookmark. */
const closingBookmarkMsMin = 2000;
const endingStepMs = 100;

export interface WatchStreamParts {
  readonly wheel: TimerWheel;
  /** A client that takes nothing for so long is cut off. */
  readonly writeStallTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
}

export interface WatchStreamOptions {
  readonly contentType: string;
  readonly timeoutMs: number;
  /** Changes the first frame (the columns of a table). */
  readonly firstFrame?: ((frame: Buffer) => Buffer) | undefined;
  /** Told the length of each frame. */
  readonly sent?: (bytes: number) => void;
}

/** The watches of one server that are open, so that a stopping server can end them. */
export class WatchStreams {
  private readonly open = new Set<WatchStream>();
  private stopping = false;

  constructor(private readonly parts: WatchStreamParts) {}

  get size(): number {
    return this.open.size;
  }

  /** Sends the head and then whatever the subscription brings, until the client, the time or the server ends it. */
  start(
    request: FastifyRequest,
    reply: FastifyReply,
    options: WatchStreamOptions,
    subscribe: (sink: EventSink) => Subscription,
  ): void {
    if (!request.kube.claimAnswer()) return;
    reply.hijack();
    request.kube.isStreaming = true;
    const headers = headersFor(request, options.contentType);
    reply.raw.writeHead(200, headers as never);
    if (request.raw.method === 'HEAD') {
      reply.raw.end();
      return;
    }
    if ('flushHeaders' in reply.raw) reply.raw.flushHeaders();
    // A connection with a body that nobody reads does not tell that its client has gone.
    request.raw.resume();
    const stream = new WatchStream(reply.raw, this.parts, options, () => this.open.delete(stream));
    this.open.add(stream);
    stream.begin(subscribe);
    if (this.stopping) stream.finish();
  }

  /**
   * Ends all of them cleanly, evenly over `overMs`, so that their clients do not all come to another server at one
   * moment. They watch again from where they were.
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
  /** Of HTTP/1.1 answers, once their head is out. */
  readonly chunkedEncoding?: boolean;
  readonly socket: unknown;
}

const lineEnd = Buffer.from('\r\n');
let chunkedFrame: Buffer | undefined;
let lastChunk: Buffer = lineEnd;

/** A frame as an HTTP/1.1 chunk. It goes to all its watchers one after the other, so its chunk is made once, too. */
function chunkOf(frame: Buffer): Buffer {
  if (frame !== chunkedFrame) {
    chunkedFrame = frame;
    lastChunk = Buffer.concat([Buffer.from(`${frame.length.toString(16)}\r\n`), frame, lineEnd]);
  }
  return lastChunk;
}

/**
 * Where chunks can be written past Node's own chunking, which writes each in three pieces. Undefined for HTTP/2 and
 * HTTP/1.0, and for an answer that waits for others on its connection.
 */
function chunkSocket({ chunkedEncoding, socket }: RawStream): Socket | undefined {
  return chunkedEncoding === true && socket instanceof Socket ? socket : undefined;
}

/** One watch: a sink for the cache, and the timers that end it. */
class WatchStream implements EventSink {
  private subscription: Subscription | undefined = undefined;
  private readonly timers: Timer[] = [];
  private stall: Timer | undefined = undefined;
  private isFirst = true;
  private isDone = false;
  private readonly socket: Socket | undefined;
  private readonly onDrain = (): void => {
    this.stall?.cancel();
    this.stall = undefined;
    this.subscription?.drained();
  };

  constructor(
    readonly raw: RawStream,
    private readonly parts: WatchStreamParts,
    private readonly options: WatchStreamOptions,
    private readonly forget: () => void,
  ) {
    this.socket = chunkSocket(raw);
  }

  begin(subscribe: (sink: EventSink) => Subscription): void {
    const { wheel, bookmarkIntervalMs } = this.parts;
    this.raw.on('close', () => this.dispose());
    this.raw.on('error', () => this.dispose());
    if (this.socket) this.socket.on('drain', this.onDrain);
    else this.raw.on('drain', this.onDrain);
    const subscription = subscribe(this);
    // The first event may have ended it.
    if (this.isDone) return subscription.close();
    this.subscription = subscription;
    const { timeoutMs } = this.options;
    // Who asked for a moment only has what a bookmark would tell.
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
    const isOpen = this.socket ? this.socket.write(chunkOf(bytes)) : this.raw.write(bytes);
    if (!isOpen)
      this.stall ??= this.parts.wheel.after(this.parts.writeStallTimeoutMs, () =>
        cutAnswer(this.raw as unknown as AnyResponse),
      );
    return isOpen;
  }

  end(): void {
    if (this.isDone) return;
    this.dispose();
    this.raw.end();
  }

  /** In good order: the client learns how far it is, so that it resumes without reading anything twice. */
  finish(): void {
    if (this.isDone) return;
    this.subscription?.sendBookmark();
    this.end();
  }

  private dispose(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.socket?.off('drain', this.onDrain);
    this.stall?.cancel();
    for (const timer of this.timers) timer.cancel();
    this.subscription?.close();
    this.forget();
  }
}
