import { Readable, Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../std/clock.js';
import { IdleTimer } from '../../std/idle-timer.js';
import { messageBytes } from './accept-websocket.js';

/** The first byte of a message that closes the channel in the second byte, in protocols that have it. */
const closeSignal = 255;
const normalClosure = 1000;

interface ChannelOptions {
  readonly clock: Clock;
  /** Messages are base64 with a digit for the channel, instead of bytes. */
  readonly isBase64: boolean;
  /** The client can close a channel; v5.channel.k8s.io. */
  readonly hasCloseSignal: boolean;
  /** The channels that the client writes, by number. Messages on others are ignored. */
  readonly received: readonly number[];
  /** One more than the largest number of a channel. */
  readonly channels: number;
  /** Time without a message in either direction. */
  readonly idleMsMax: number;
}

/** The channels of a WebSocket, each message beginning with the number of its channel. */
export class Channels {
  /** Resolves when the WebSocket has ended, for any reason. */
  readonly closed: Promise<void>;
  private readonly inputs = new Map<number, ChannelInput>();
  private readonly idle: IdleTimer;

  constructor(
    private readonly webSocket: WebSocket,
    private readonly options: ChannelOptions,
  ) {
    this.idle = new IdleTimer(options.clock, options.idleMsMax, () => webSocket.terminate());
    for (const channel of options.received) {
      this.inputs.set(channel, new ChannelInput(() => this.pauseOrResume()));
    }
    webSocket.on('message', (data: Buffer) => this.receive(messageBytes(data)));
    this.closed = new Promise((resolve) => {
      webSocket.once('close', () => {
        this.idle.cancel();
        for (const input of this.inputs.values()) input.end();
        resolve();
      });
    });
  }

  /** Returns the bytes that the client sends on a channel. The stream ends when the client closes the channel or leaves. */
  input(channel: number): Readable | undefined {
    return this.inputs.get(channel);
  }

  /** Sends each chunk as a message. What is written after the client has left is discarded. */
  output(channel: number): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => this.send(channel, chunk, done),
    });
  }

  send(channel: number, bytes: Buffer, done: () => void = () => undefined): void {
    if (this.webSocket.readyState !== 1) return done();
    this.idle.touch();
    const { isBase64 } = this.options;
    const message = isBase64
      ? Buffer.from(String.fromCharCode(48 + channel) + bytes.toString('base64'))
      : Buffer.concat([Buffer.of(channel), bytes]);
    this.webSocket.send(message, { binary: !isBase64, compress: false }, () => done());
  }

  close(): void {
    this.webSocket.close(normalClosure);
    // The client's answer, and what it sends before, are read.
    for (const input of this.inputs.values()) input.resume();
    this.webSocket.resume();
  }

  private receive(message: Buffer): void {
    this.idle.touch();
    // Some clients send empty messages to keep the connection open.
    if (message.length === 0) return;
    if (this.options.hasCloseSignal && message[0] === closeSignal) return this.receiveClose(message);
    const channel = this.options.isBase64 ? message[0]! - 48 : message[0]!;
    const bytes = message.subarray(1);
    this.inputs.get(channel)?.receive(this.options.isBase64 ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes);
    this.pauseOrResume();
  }

  private receiveClose(message: Buffer): void {
    const channel = message[1];
    if (message.length !== 2 || channel === undefined || channel >= this.options.channels) {
      return this.webSocket.terminate();
    }
    this.inputs.get(channel)?.end();
  }

  /** Stops reading while the consumer of any channel lags, as kube-apiserver. */
  private pauseOrResume(): void {
    if (this.webSocket.readyState !== 1) return;
    if ([...this.inputs.values()].some(({ isFull }) => isFull)) this.webSocket.pause();
    else this.webSocket.resume();
  }
}

class ChannelInput extends Readable {
  isFull = false;
  private isOpen = true;

  constructor(private readonly changed: () => void) {
    // Full with the first message that waits: a small one keeps all bytes that arrived with it.
    super({ highWaterMark: 0 });
  }

  receive(bytes: Buffer): void {
    if (this.isOpen && !this.destroyed && bytes.length > 0) this.isFull = !this.push(bytes);
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.changed();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.isFull = false;
    this.changed();
    done(error);
  }
}
