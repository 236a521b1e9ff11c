import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Keelson } from '../../src/testing.js';

export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

const flag = { endStream: 1, endHeaders: 4, ack: 1 } as const;
export const cancel = 8;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** HTTP/2 by hand, for frames that no library sends. */
export class RawHttp2 {
  readonly frames: Frame[] = [];
  isClosed = false;
  answersPings = true;
  private received = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  private constructor(readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.parse();
      this.wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
  }

  static async connect(server: Keelson, { preface = true, settings = [] as [number, number][] } = {}) {
    const { hostname, port } = new URL(server.url);
    const { certificate: cert, key } = server.client;
    const tls = { host: hostname, port: Number(port), ca: server.ca, cert, key, ALPNProtocols: ['h2'] };
    const socket = connect(tls);
    const made = new RawHttp2(socket);
    await once(socket, 'secureConnect');
    if (preface) {
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      made.settings(settings);
    }
    return made;
  }

  send(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): boolean {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return this.socket.write(Buffer.concat([head, payload]));
  }

  settings(values: readonly (readonly [id: number, value: number])[]): void {
    const payload = Buffer.alloc(6 * values.length);
    values.forEach(([id, value], i) => {
      payload.writeUInt16BE(id, 6 * i);
      payload.writeUInt32BE(value, 6 * i + 2);
    });
    this.send(frameType.settings, 0, 0, payload);
  }

  headers(
    stream: number,
    fields: Readonly<Record<string, string>>,
    { endStream = true, endHeaders = true } = {},
  ): void {
    const all = { ':method': 'GET', ':scheme': 'https', ':authority': 'a', ':path': '/livez', ...fields };
    const block = encodeHeaders(Object.entries(all).filter(([, value]) => value !== ''));
    const flags = (endStream ? flag.endStream : 0) | (endHeaders ? flag.endHeaders : 0);
    this.send(frameType.headers, flags, stream, block);
  }

  /** Resolves with true when `is` holds, with false after the timeout. */
  async until(is: () => boolean, waitMs: number): Promise<boolean> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      if (is()) return true;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  closed = (waitMs: number) => this.until(() => this.isClosed, waitMs);

  has = (type: number, stream?: number) =>
    this.frames.some((frame) => frame.type === type && (stream === undefined || frame.stream === stream));

  destroy(): void {
    this.socket.destroy();
  }

  private parse(): void {
    while (this.received.length >= 9) {
      const end = 9 + this.received.readUIntBE(0, 3);
      if (this.received.length < end) return;
      const stream = this.received.readUInt32BE(5);
      const isSettings = this.received[3] === frameType.settings && (this.received[4]! & flag.ack) === 0;
      if (isSettings) this.send(frameType.settings, flag.ack, 0);
      const isPing = this.received[3] === frameType.ping && (this.received[4]! & flag.ack) === 0;
      if (isPing && this.answersPings) this.send(frameType.ping, flag.ack, 0, this.received.subarray(9, end));
      this.frames.push({
        type: this.received[3]!,
        flags: this.received[4]!,
        stream,
        payload: this.received.subarray(9, end),
      });
      this.received = this.received.subarray(end);
    }
  }
}

/** HPACK without tables: literal fields without indexing (RFC 7541, 6.2.2). */
function encodeHeaders(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
