import type { ServerHttp2Session } from 'node:http2';

export interface SilenceBounds {
  /** Time without bytes from the client after which a PING is sent. */
  readonly silenceMsMax: number;
  readonly pingTimeoutMs: number;
}

/**
 * Detects that the client of an HTTP/2 session has vanished, which would keep its streams open forever. Also detects
 * sessions with malformed frames: Node stops reading from their socket without any event.
 */
export class SessionPeer {
  private bytesRead = 0;
  private pingSentMs: number | undefined = undefined;

  constructor(
    private readonly session: ServerHttp2Session,
    private readonly bounds: SilenceBounds,
    private lastReadMs: number,
  ) {}

  /** Returns false if the client did not answer a PING in time; sends one if it was silent. To be called regularly. */
  isAlive(nowMs: number): boolean {
    const { bytesRead } = this.session.socket;
    if (bytesRead !== this.bytesRead) {
      this.bytesRead = bytesRead;
      this.lastReadMs = nowMs;
      this.pingSentMs = undefined;
      return true;
    }
    if (this.pingSentMs !== undefined) return nowMs - this.pingSentMs < this.bounds.pingTimeoutMs;
    if (nowMs - this.lastReadMs < this.bounds.silenceMsMax) return true;
    this.pingSentMs = nowMs;
    this.session.ping(() => undefined);
    return true;
  }
}
