import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../lib/servers.js';

interface Answer {
  readonly code: number;
  readonly text: string;
}

interface RequestOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests of a soak over connections that are kept, with their durations and failures. */
export class SoakClient {
  /** Durations since they were last taken. */
  private readMs: number[] = [];
  private writeMs: number[] = [];
  private readonly agent: Agent;
  requests = 0;
  events = 0;
  /** Number of failures by kind; conflicts between writers are none. */
  readonly failures = new Map<string, number>();

  constructor(private readonly server: Server) {
    this.agent = new Agent({ keepAlive: true, maxSockets: 32, ca: server.target.ca });
  }

  async ask(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const begin = performance.now();
    const response = await this.send(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    this.requests++;
    (method === 'GET' ? this.readMs : this.writeMs).push(performance.now() - begin);
    const code = response.statusCode ?? 0;
    if (code >= 500 || code === 401 || code === 403 || code === 429) this.failed(`${method} ${code}`);
    return { code, text: Buffer.concat(chunks).toString() };
  }

  /** Watches until the time is over or the server ends it. Returns the last resourceVersion. */
  async watch(path: string, resourceVersion: string, forMs: number): Promise<string | undefined> {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
    const response = await this.send('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`, {});
    const timer = setTimeout(() => response.destroy(), forMs);
    let [rest, last]: [string, string | undefined] = ['', resourceVersion];
    try {
      for await (const chunk of response) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          this.events++;
          if (line.startsWith('{"type":"ERROR"')) return undefined;
          last = /"resourceVersion":"(\d+)"/.exec(line)?.[1] ?? last;
        }
      }
    } catch {
      // It was closed here, or the server ended it.
    } finally {
      clearTimeout(timer);
    }
    return last;
  }

  failed(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }

  /** Durations of reads and writes since the last call. */
  takeDurations(): { readonly readMs: readonly number[]; readonly writeMs: readonly number[] } {
    const { readMs, writeMs } = this;
    this.readMs = [];
    this.writeMs = [];
    return { readMs, writeMs };
  }

  close(): void {
    this.agent.destroy();
  }

  private send(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const { body, contentType = 'application/json', token = this.server.token, headers } = options;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const { host, port } = this.server.target;
    return new Promise((resolve, reject) => {
      const sent = request({
        ...{ host, port, method, path, agent: this.agent },
        headers: {
          authorization: `Bearer ${token}`,
          ...(bytes && { 'content-type': contentType, 'content-length': bytes.length }),
          ...headers,
        },
      });
      sent.once('response', resolve);
      sent.once('error', reject);
      sent.end(bytes);
    });
  }
}

/** Repeats a task until it is stopped, with a pause after each run. Failures of connections are counted. */
export async function repeat(
  client: SoakClient,
  stop: AbortSignal,
  pauseMs: () => number,
  task: () => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    await task().catch((error: unknown) => {
      if (!stop.aborted) client.failed(`no answer: ${(error as { code?: string }).code ?? (error as Error).message}`);
    });
    await sleep(pauseMs(), undefined, { signal: stop }).catch(() => undefined);
  }
}
