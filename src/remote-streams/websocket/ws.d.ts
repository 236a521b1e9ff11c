/** The part of the package `ws` that is used, so that its types are no further package. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export class WebSocket extends EventEmitter {
    constructor(
      address: string,
      protocols?: readonly string[],
      options?: {
        readonly rejectUnauthorized?: boolean;
        readonly ca?: string;
        readonly cert?: string;
        readonly key?: string;
      },
    );
    readonly protocol: string;
    readonly readyState: number;
    binaryType: 'nodebuffer';
    send(data: Buffer, options?: { binary: boolean; compress: boolean }, done?: (error?: Error) => void): void;
    ping(): void;
    pong(data: Buffer, mask: boolean, done: (error?: Error) => void): void;
    close(code: number, reason?: string): void;
    terminate(): void;
    pause(): void;
    resume(): void;
  }

  interface ServerOptions {
    readonly noServer: true;
    readonly maxPayload: number;
    readonly perMessageDeflate: false;
    readonly clientTracking: false;
    readonly skipUTF8Validation: true;
    readonly autoPong: false;
  }

  export class WebSocketServer {
    constructor(options: ServerOptions);
    /** Lines of the head of the answer can be added. */
    on(event: 'headers', listener: (lines: string[]) => void): this;
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, accepted: (socket: WebSocket) => void): void;
  }
}
