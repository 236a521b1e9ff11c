import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

interface CommandStatus {
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly details?: unknown;
}

/** A client of exec or attach over a WebSocket. */
export class ChannelClient {
  /** Texts that were received, by channel. */
  readonly received = ['', '', '', '', ''];
  messages = 0;
  readonly closed: Promise<number>;

  private constructor(
    readonly webSocket: WebSocket,
    private readonly isBase64: boolean,
  ) {
    webSocket.on('message', (data: Buffer) => {
      this.messages++;
      const channel = isBase64 ? data[0]! - 48 : data[0]!;
      const bytes = data.subarray(1);
      this.received[channel] += isBase64 ? Buffer.from(String(bytes), 'base64').toString() : bytes.toString();
    });
    webSocket.on('error', () => undefined);
    this.closed = once(webSocket, 'close').then(([code]) => code as number);
  }

  /** Rejects with the status code and body of an answer that refuses the upgrade. */
  static async open(url: string, protocols: readonly string[]): Promise<ChannelClient> {
    const webSocket = new WebSocket(url, protocols);
    const refused = new Promise<never>((_, reject) => {
      webSocket.once('unexpected-response', (_request: unknown, response: IncomingMessage) => {
        void response.toArray().then((parts) => reject(new Error(`${response.statusCode}: ${parts.join('')}`)));
      });
      webSocket.once('error', reject);
    });
    const opened = once(webSocket, 'open');
    // Listens before the first message can arrive.
    const client = new ChannelClient(webSocket, protocols[0]?.includes('base64') ?? false);
    await Promise.race([opened, refused]);
    return client;
  }

  send(channel: number, text: string): void {
    const bytes = Buffer.from(text);
    if (this.isBase64) this.webSocket.send(Buffer.from(`${channel}${bytes.toString('base64')}`));
    else this.webSocket.send(Buffer.concat([Buffer.of(channel), bytes]));
  }

  closeChannel(channel: number): void {
    this.webSocket.send(Buffer.of(255, channel));
  }

  get stdout(): string {
    return this.received[1]!;
  }

  /** The outcome, after the server has closed the connection. */
  async status(): Promise<CommandStatus> {
    await this.closed;
    return JSON.parse(this.received[3]!) as CommandStatus;
  }
}
