import * as http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';

/** Like client-go: keeps the session as long as it accepts requests, whatever their answers. */
export class Http2Transport {
  private session: http2.ClientHttp2Session | undefined;
  sessionsOpened = 0;

  constructor(
    private readonly url: string,
    private readonly tls: http2.SecureClientSessionOptions,
  ) {}

  /** Sends one request; calls `line` with each line of the body. Rejects if the answer was incomplete. */
  request(path: string, line: (text: string) => void): Promise<number> {
    if (!this.session || this.session.closed || this.session.destroyed) {
      this.session = http2.connect(this.url, this.tls);
      this.session.on('error', () => undefined);
      // Open streams continue; new ones need a new session.
      this.session.on('goaway', () => this.session?.close());
      this.sessionsOpened++;
    }
    const stream = this.session.request({ ':path': path });
    return new Promise((resolve, reject) => {
      let code = 0;
      let rest = '';
      let isWhole = false;
      stream.setEncoding('utf8');
      stream.on('response', (headers) => (code = Number(headers[':status'])));
      stream.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop()!;
        lines.forEach(line);
      });
      stream.on('end', () => {
        if (rest !== '') line(rest);
        isWhole = code !== 0;
      });
      stream.on('error', () => undefined);
      stream.on('close', () => (isWhole && stream.rstCode === 0 ? resolve(code) : reject(new Error('cut'))));
    });
  }

  close(): void {
    this.session?.destroy();
  }
}

interface Item {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Lists and watches one collection repeatedly, like a client-go informer. */
export class Http2Informer {
  readonly values = new Map<string, string | undefined>();
  refused = 0;
  private isStopped = false;
  private version = '';
  readonly running: Promise<void>;

  constructor(
    private readonly transport: Http2Transport,
    private readonly path: string,
  ) {
    this.running = this.run();
  }

  stop(): void {
    this.isStopped = true;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      try {
        if (this.version === '') await this.list();
        await this.watch();
      } catch {
        await sleep(30);
      }
    }
  }

  private async list(): Promise<void> {
    let text = '';
    const code = await this.transport.request(this.path, (line) => (text += line));
    if (code !== 200) this.refuse();
    const list = JSON.parse(text) as { metadata: { resourceVersion: string }; items: Item[] };
    this.values.clear();
    for (const { metadata, data } of list.items) this.values.set(metadata.name, data?.['value']);
    this.version = list.metadata.resourceVersion;
  }

  private async watch(): Promise<void> {
    const path = `${this.path}?watch=1&allowWatchBookmarks=1&resourceVersion=${this.version}`;
    const code = await this.transport.request(path, (line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: Item };
      if (type === 'ERROR') this.version = '';
      else this.version = object.metadata.resourceVersion;
      if (type === 'ADDED' || type === 'MODIFIED') this.values.set(object.metadata.name, object.data?.['value']);
      if (type === 'DELETED') this.values.delete(object.metadata.name);
    });
    if (code !== 200) this.refuse();
  }

  private refuse(): never {
    this.refused++;
    this.version = '';
    throw new Error('refused');
  }
}
