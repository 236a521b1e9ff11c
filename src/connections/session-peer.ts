import type { ServerHttp2Session } from 'node:http2';

export interface SilenceBounds {
  /** A client from which nothing has come for so long is asked for a sign of life. */
  readonly silenceMsMax: number;
  readonly pingTimeoutMs: number;
}

/**
 * Finds out that the client of an HTTP/2 session has gone, which would leave its streams waiting for ever. The same goes
 * for a client whose frames are malformed: Node then reads no more from the socket, not even its end, and tells nobody.
 */
export class SessionPeer {
  private bytesRead = 0;
  private askedMs: number | undefined = undefined;

  constructor(
    private readonly session: ServerHttp2Session,
    private readonly bounds: SilenceBounds,
    private heardMs: number,
  ) {}

  /** To be called now and then: asks a silent client, and is false if it has not answered in time. */
  isThere(nowMs: number): boolean {
    const { bytesRead } = this.session.socket;
    if (bytesRead !== this.bytesRead) {
      this.bytesRead = bytesRead;
      this.heardMs = nowMs;
      this.askedMs = undefined;
      return true;
    }
    if (this.askedMs !== undefined) return nowMs - this.askedMs < this.bounds.pingTimeoutMs;
    if (nowMs - this.heardMs < this.bounds.silenceMsMax) return true;
    this.askedMs = nowMs;
    this.session.ping(() => undefined);
    return true;
  }
}
