import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { once } from 'node:events';
import type { Target } from './http1-connection.js';
import type { RequestShape } from './requests.js';

/** HTTP/2 sessions that repeat a request without a body, as several clients do that each use one of them. */
export class Http2Reads {
  private next = 0;

  private constructor(
    private readonly sessions: readonly ClientHttp2Session[],
    private readonly headers: Record<string, string>,
  ) {}

  static async open({ host, port, ca, client }: Target, request: RequestShape, count: number): Promise<Http2Reads> {
    const url = `https://${host}:${port}`;
    const options = { ca, ...client, checkServerIdentity: () => undefined };
    const sessions = Array.from({ length: count }, () => connect(url, options));
    await Promise.all(sessions.map((session) => once(session, 'connect')));
    return new Http2Reads(sessions, {
      [constants.HTTP2_HEADER_METHOD]: request.method,
      [constants.HTTP2_HEADER_PATH]: request.path,
      [constants.HTTP2_HEADER_AUTHORIZATION]: `Bearer ${request.token}`,
      [constants.HTTP2_HEADER_ACCEPT]: request.accept ?? 'application/json',
    });
  }

  /** Sends the request on the next session. `end` gets the status of the answer, 0 if there is none. */
  send(end: (status: number) => void): void {
    const stream = this.sessions[this.next++ % this.sessions.length]!.request(this.headers);
    let status = 0;
    stream.on('response', (headers) => (status = headers[':status'] ?? 0));
    stream.on('error', () => undefined);
    stream.once('close', () => end(status));
    stream.resume();
  }

  close(): void {
    for (const session of this.sessions) session.destroy();
  }
}
