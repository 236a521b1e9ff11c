import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export interface Target {
  readonly host: string;
  readonly port: number;
  /** PEM of the certificate authority of both servers. */
  readonly ca: string;
  /** Client certificate and its key, in PEM. */
  readonly client?: { readonly cert: string; readonly key: string };
}

interface AnswerReader {
  /** Called with the status of an answer. */
  head?(status: number): void;
  /** Called with parts of a body, without chunk framing. */
  body?(part: Buffer): void;
  /** Called at the end of an answer. */
  end(status: number): void;
  closed(): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');

/**
 * A keep-alive connection that discards what it reads, since the client must cost less than the server. A state machine
 * over the bytes: the head, then the announced length, or chunks with their sizes.
 */
export class Http1Connection {
  private rest: Buffer | undefined;
  private state: 'head' | 'body' | 'chunk-size' | 'chunk' | 'trailer' = 'head';
  private left = 0;
  private status = 0;

  private constructor(
    private readonly socket: TLSSocket,
    private readonly reader: AnswerReader,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (data) => this.take(data));
    socket.on('error', () => undefined);
    socket.on('close', () => reader.closed());
  }

  static async open({ host, port, ca, client }: Target, reader: AnswerReader): Promise<Http1Connection> {
    const socket = connect({
      host,
      port,
      ca,
      ...client,
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: () => undefined,
    });
    await once(socket, 'secureConnect');
    return new Http1Connection(socket, reader);
  }

  send(request: Buffer): void {
    this.socket.write(request);
  }

  close(): void {
    this.socket.destroy();
  }

  private take(data: Buffer): void {
    let bytes = this.rest === undefined ? data : Buffer.concat([this.rest, data]);
    this.rest = undefined;
    while (bytes.length > 0) {
      const used = this.step(bytes);
      if (used === 0) {
        this.rest = bytes;
        return;
      }
      bytes = bytes.subarray(used);
    }
  }

  /** Returns the number of bytes consumed; 0 if more are needed first. */
  private step(bytes: Buffer): number {
    if (this.state === 'head') {
      const end = bytes.indexOf(headEnd);
      if (end < 0) return 0;
      this.takeHead(bytes.toString('latin1', 0, end));
      return end + headEnd.length;
    }
    if (this.state === 'body' || this.state === 'chunk') {
      const part = Math.min(this.left, bytes.length);
      this.left -= part;
      // Includes the line break after a chunk, which readers of events ignore.
      this.reader.body?.(bytes.subarray(0, part));
      if (this.left === 0) {
        if (this.state === 'chunk') this.state = 'chunk-size';
        else this.finish();
      }
      return part;
    }
    const end = bytes.indexOf(lineEnd);
    if (end < 0) return 0;
    if (this.state === 'chunk-size') {
      const size = parseInt(bytes.toString('latin1', 0, end), 16);
      this.left = size + lineEnd.length;
      this.state = size === 0 ? 'trailer' : 'chunk';
    } else if (end === 0) this.finish();
    return end + lineEnd.length;
  }

  private takeHead(head: string): void {
    this.status = Number(head.slice(9, 12));
    this.reader.head?.(this.status);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) {
      this.left = Number(length);
      this.state = 'body';
      if (this.left === 0) this.finish();
    } else this.state = /\r\ntransfer-encoding: *chunked/i.test(head) ? 'chunk-size' : 'body';
  }

  private finish(): void {
    this.state = 'head';
    this.reader.end(this.status);
  }
}
