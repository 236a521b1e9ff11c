import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Keelson } from '../../src/testing.js';

interface RawAnswer {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** True if the body is a stream without an end. */
  readonly isStream: boolean;
}

/** The outcome of sending bytes: an answer, the end of the connection, or nothing in time. */
export type Outcome = RawAnswer | 'closed' | 'silent';

/** HTTP/1.1 by hand, to send arbitrary bytes. */
export class RawClient {
  private socket: TLSSocket | undefined;
  private received = Buffer.alloc(0);
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(private readonly server: Keelson) {}

  /** Sends the bytes on a connection that is reused if the answer left it open. */
  async exchange(bytes: Buffer, options: { readonly hasBody: boolean; readonly waitMs: number }): Promise<Outcome> {
    await this.open();
    this.socket!.write(bytes);
    const outcome = await this.answer(options);
    if (typeof outcome === 'string' || outcome.isStream || outcome.headers.get('connection') === 'close') this.close();
    return outcome;
  }

  /** Ends pending exchanges as closed. */
  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
    this.isClosed = true;
    this.wake();
  }

  private async open(): Promise<void> {
    if (this.socket && !this.isClosed && this.received.length === 0) return;
    this.close();
    const { url, ca, client } = this.server;
    const { hostname, port } = new URL(url);
    const socket = connect({
      host: hostname,
      port: Number(port),
      ca,
      cert: client.certificate,
      key: client.key,
      ALPNProtocols: ['http/1.1'],
    });
    this.socket = socket;
    this.received = Buffer.alloc(0);
    this.isClosed = false;
    socket.on('data', (chunk: Buffer) => {
      if (socket !== this.socket) return;
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    const closed = () => {
      if (socket !== this.socket) return;
      this.isClosed = true;
      this.wake();
    };
    socket.on('error', closed);
    socket.on('close', closed);
    await once(socket, 'secureConnect');
  }

  private async answer({ hasBody, waitMs }: { hasBody: boolean; waitMs: number }): Promise<Outcome> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const found = this.parse(hasBody);
      if (found) return found;
      if (this.isClosed) return 'closed';
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return 'silent';
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  private parse(hasBody: boolean): RawAnswer | undefined {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [status = '', ...lines] = this.received.toString('latin1', 0, end).split('\r\n');
    const code = Number(/^HTTP\/1\.1 (\d{3}) /.exec(status)?.[1]);
    if (!code) throw new Error(`not the head of an answer: ${status}`);
    if (code < 200) {
      this.received = this.received.subarray(end + 4);
      return this.parse(hasBody);
    }
    const headers = new Map(lines.map((line) => splitAt(line, line.indexOf(':'))));
    const rest = this.received.subarray(end + 4);
    const finish = (body: Buffer, used: number, isStream = false) => {
      this.received = rest.subarray(used);
      return { code, headers, body, isStream };
    };
    if (!hasBody || code === 204 || code === 304) return finish(Buffer.alloc(0), 0);
    if (headers.get('transfer-encoding') === 'chunked') {
      const chunked = dechunk(rest);
      if (chunked) return finish(chunked.body, chunked.used);
      // Only a watch sends its head long before its end.
      return /stream=watch|json/.test(headers.get('content-type') ?? '') ? finish(rest, rest.length, true) : undefined;
    }
    const length = headers.get('content-length');
    if (length === undefined) return this.isClosed ? finish(rest, rest.length) : undefined;
    return rest.length < Number(length) ? undefined : finish(rest.subarray(0, Number(length)), Number(length));
  }
}

const splitAt = (line: string, at: number): [string, string] => [
  line.slice(0, at).toLowerCase(),
  line.slice(at + 1).trim(),
];

function dechunk(bytes: Buffer): { body: Buffer; used: number } | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const length = parseInt(bytes.toString('latin1', at, end), 16);
    if (bytes.length < end + 2 + length + 2) return undefined;
    if (length === 0) return { body: Buffer.concat(pieces), used: end + 4 };
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
