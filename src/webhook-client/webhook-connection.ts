import type { TLSSocket } from 'node:tls';
import { MalformedResponse, ResponseReader, ResponseTooLarge, type ResponseHead } from './response-reader.js';

/** A call that a connection carries. */
export interface Exchange {
  readonly request: readonly (Buffer | string)[];
  readonly answerBytesMax: number;
  answered(response: ResponseReader): void;
  /** `isStale` is true if the server has closed an idle connection before it read the request. */
  failed(error: Error, isStale: boolean): void;
}

/** Receives the end of an exchange, which is when a connection can be used again, and of the connection. */
interface ConnectionOwner {
  freed(connection: WebhookConnection, keepAliveMs: number | undefined): void;
  closed(connection: WebhookConnection, error: Error | undefined): void;
}

const unwrittenBytesMax = 64 * 1024;

/**
 * Connections whose requests were begun in this iteration of the event loop, which are written together at its end. Each
 * write to an idle server wakes it, which costs more than the rest of the call; this way it is woken once.
 */
let unwritten: WebhookConnection[] = [];

function writeAll(): void {
  const connections = unwritten;
  unwritten = [];
  for (const connection of connections) connection.write();
}

function writeLater(connection: WebhookConnection): void {
  if (unwritten.push(connection) === 1) setImmediate(writeAll);
}

/** A TLS connection that carries one exchange at a time. */
export class WebhookConnection {
  private exchange: Exchange | undefined;
  private reader: ResponseReader | undefined;
  private lastHead: ResponseHead | undefined;
  private isOpen = false;
  private hasServed = false;
  private error: Error | undefined;
  /** In the time of the pool's clock, while the connection is idle. */
  idleUntilMs = 0;

  constructor(
    readonly address: string,
    private readonly socket: TLSSocket,
    private readonly owner: ConnectionOwner,
  ) {
    socket.setNoDelay(true);
    // The sockets on which the server listens keep the process alive.
    socket.unref();
    socket.once('secureConnect', () => {
      this.isOpen = true;
      writeLater(this);
    });
    socket.on('data', (bytes: Buffer) => this.take(bytes));
    socket.on('error', (error: Error) => (this.error = error));
    socket.on('end', () => this.ended());
    socket.on('close', () => this.closed());
  }

  /** Begins an exchange; the request is sent at the end of this turn, once the server is verified. */
  send(exchange: Exchange): void {
    this.exchange = exchange;
    if (this.isOpen) writeLater(this);
  }

  /** Closes the connection; an exchange gets no answer. */
  destroy(): void {
    this.exchange = this.reader = undefined;
    this.socket.destroy();
  }

  /** Sends the request, unless it was cancelled. */
  write(): void {
    const { exchange, socket } = this;
    if (!exchange) return;
    this.reader = new ResponseReader(exchange.answerBytesMax, this.lastHead);
    const { request } = exchange;
    if (request.length > 1) socket.cork();
    for (const part of request) socket.write(part);
    if (request.length > 1) socket.uncork();
  }

  private take(bytes: Buffer): void {
    const { reader } = this;
    // A server without a request has nothing to say. An exchange that was not sent yet is tried on another connection.
    if (!reader) {
      this.socket.destroy();
      return this.fail();
    }
    let isComplete: boolean;
    try {
      isComplete = reader.take(bytes);
    } catch (error) {
      if (!(error instanceof MalformedResponse || error instanceof ResponseTooLarge)) throw error;
      this.error = error;
      this.socket.destroy();
      return this.fail();
    }
    if (isComplete) this.complete(reader);
  }

  private complete(reader: ResponseReader): void {
    const exchange = this.exchange!;
    this.exchange = this.reader = undefined;
    this.hasServed = true;
    this.lastHead = reader.head;
    // A server that has answered before it has read all of a long request may not read the rest. Node counts bytes as
    // unwritten until a later phase of the event loop, so that those of a short request may still be counted.
    if (reader.isReusable && this.socket.writableLength <= unwrittenBytesMax)
      this.owner.freed(this, reader.keepAliveMs);
    else this.socket.destroy();
    exchange.answered(reader);
  }

  private ended(): void {
    if (this.reader?.hasBegun && this.reader.close()) this.complete(this.reader);
  }

  private closed(): void {
    this.owner.closed(this, this.error);
    this.fail();
  }

  private fail(): void {
    const { exchange, reader } = this;
    if (!exchange) return;
    this.exchange = this.reader = undefined;
    const error = this.error ?? Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
    exchange.failed(error, this.hasServed && reader?.hasBegun !== true);
  }
}
