import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { messageBytes } from './accept-websocket.js';

const normalClosure = 1000;
const unsupportedData = 1003;

/**
 * The bytes in the binary messages of a WebSocket, as a stream. The borders of messages have no meaning. When the WebSocket
 * closes it emits `left`, and ends after what has arrived was read.
 */
export class TunnelStream extends Duplex {
  private isEnded = false;

  constructor(private readonly webSocket: WebSocket) {
    // Full with the first message that waits: a small one keeps all bytes that arrived with it.
    super({ allowHalfOpen: true, decodeStrings: true, readableHighWaterMark: 0 });
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return webSocket.close(unsupportedData, 'messages must be binary');
      const bytes = messageBytes(data);
      if (!this.isEnded && bytes.length > 0 && !this.push(bytes)) webSocket.pause();
    });
    webSocket.once('close', () => {
      if (!this.isEnded) this.push(null);
      this.isEnded = true;
      this.emit('left');
      if (this.readableEnded) this.destroy();
      else this.once('end', () => this.destroy());
    });
  }

  override _read(): void {
    this.webSocket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.webSocket.readyState !== 1) return done();
    this.webSocket.send(chunk, { binary: true, compress: false }, () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    // A WebSocket has no half-open state.
    this.webSocket.close(normalClosure);
    this.webSocket.resume();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished && this.webSocket.readyState <= 1) this.webSocket.terminate();
    this.isEnded = true;
    this.webSocket.resume();
    done(error);
  }
}
