import { connect, type ClientHttp2Session } from 'node:http2';
import { createInterface } from 'node:readline';
import type { Server } from './servers.js';

export class Answer {
  constructor(
    readonly code: number,
    readonly body: Buffer,
  ) {}

  /** Throws for bodies beyond 512 MiB, which V8 cannot hold as one string. */
  get text(): string {
    return this.body.toString('utf8');
  }
}

/** Requests and watches over a few HTTP/2 connections, as those of many clients that run on several machines. */
export class Http2Client {
  private readonly sessions: readonly ClientHttp2Session[];
  private next = 0;

  constructor(
    private readonly server: Server,
    connections: number,
  ) {
    const { host, port, ca } = server.target;
    this.sessions = Array.from({ length: connections }, () => connect(`https://${host}:${port}`, { ca }));
  }

  call(method: string, path: string, body?: object, type = 'application/json', accept?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers(method, path),
        ...(body && { 'content-type': type }),
        ...(accept && { accept }),
      };
      const stream = this.session().request(headers);
      const parts: Buffer[] = [];
      let code = 0;
      stream.on('response', (headers) => (code = Number(headers[':status'])));
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.once('error', reject);
      stream.once('end', () => resolve(new Answer(code, Buffer.concat(parts))));
      stream.end(body && JSON.stringify(body));
    });
  }

  /** Calls `changed` with each event of a watch until the client is closed. */
  watch(path: string, changed: (event: { readonly type: string; readonly object: unknown }) => void): void {
    const stream = this.session().request(this.headers('GET', path));
    createInterface({ input: stream }).on('line', (line) => {
      changed(JSON.parse(line) as { type: string; object: unknown });
    });
  }

  close(): void {
    for (const session of this.sessions) session.destroy();
  }

  private session(): ClientHttp2Session {
    return this.sessions[this.next++ % this.sessions.length]!;
  }

  private headers(method: string, path: string): Record<string, string> {
    return { ':method': method, ':path': path, authorization: `Bearer ${this.server.token}` };
  }
}
