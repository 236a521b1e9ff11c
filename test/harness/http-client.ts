import * as http2 from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import * as https from 'node:https';
import type { Readable } from 'node:stream';

export type Protocol = 'http/1.1' | 'h2';
type Headers = Record<string, string | string[]>;

export interface ClientOptions {
  readonly url: string;
  /** PEM of the CA that the server's certificate is verified with. */
  readonly ca: string;
  readonly protocol?: Protocol;
  readonly token?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Headers;
}

interface RequestOptions {
  /** Strings and bytes are sent as they are, other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Headers;
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body if it is JSON; undefined otherwise. Untyped, since tests inspect it in many ways. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[];
}

/** An answer whose body is still arriving. */
export interface OpenAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Resolves when the body is over: ended by its sender, or cut. */
  readonly ended: Promise<'complete' | 'cut'>;
  cancel(): void;
}

/** A small HTTP client that exposes the wire. One connection by HTTP/2, as many as needed by HTTP/1.1. */
export class HttpClient {
  readonly protocol: Protocol;
  private readonly agent: https.Agent;
  private session: http2.ClientHttp2Session | undefined;

  constructor(private readonly options: ClientOptions) {
    this.protocol = options.protocol ?? 'http/1.1';
    this.agent = new https.Agent({ keepAlive: true, ...this.tls() });
  }

  get = (path: string, headers?: Headers) => this.request('GET', path, { ...(headers && { headers }) });
  head = (path: string, headers?: Headers) => this.request('HEAD', path, { ...(headers && { headers }) });
  post = (path: string, body: unknown, headers?: Headers) =>
    this.request('POST', path, { body, ...(headers && { headers }) });
  put = (path: string, body: unknown, headers?: Headers) =>
    this.request('PUT', path, { body, ...(headers && { headers }) });
  delete = (path: string, body?: unknown, headers?: Headers) =>
    this.request('DELETE', path, { ...(body !== undefined && { body }), ...(headers && { headers }) });

  /** `type` is `merge`, `json`, or any media type. */
  patch(path: string, body: unknown, type = 'merge', headers: Headers = {}): Promise<Answer> {
    const mediaType = type.includes('/') ? type : `application/${type}-patch+json`;
    return this.request('PATCH', path, { body, headers: { 'content-type': mediaType, ...headers } });
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.open(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of answer.body) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { code, headers } = answer;
    const isPlain = headers['content-encoding'] === undefined && bytes.length > 0;
    const isJson = isPlain && headers['content-type']?.includes('json') === true;
    const text = bytes.toString('utf8');
    return { code, headers, bytes, text, body: isJson ? JSON.parse(text) : undefined, warnings: warningsOf(headers) };
  }

  /** Starts a watch; resolves when the server has accepted it, rejects unless it answers 200. */
  async watch(path: string, headers: Headers = {}): Promise<Watch> {
    const answer = await this.open('GET', path, { headers });
    const watch = new Watch(answer);
    if (answer.code === 200) return watch;
    const text = await readAll(answer.body);
    throw new Error(`the watch was refused with ${answer.code}: ${text}`);
  }

  open(method: string, path: string, { body, headers = {} }: RequestOptions = {}): Promise<OpenAnswer> {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const bytes = body === undefined ? undefined : isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    const all: Headers = {
      ...(this.options.token !== undefined && { authorization: `Bearer ${this.options.token}` }),
      ...(bytes && { 'content-length': String(bytes.length) }),
      ...(bytes && !isRaw && { 'content-type': 'application/json' }),
      'user-agent': 'keelson-test/1',
      ...this.options.headers,
      ...headers,
    };
    // A header given as '' is not sent.
    for (const [name, value] of Object.entries(all)) if (value === '') delete all[name];
    return this.protocol === 'h2' ? this.openHttp2(method, path, bytes, all) : this.openHttp1(method, path, bytes, all);
  }

  close(): void {
    this.agent.destroy();
    this.session?.destroy();
  }

  private tls() {
    const { ca, certificate, key } = this.options;
    return { ca, ...(certificate !== undefined && { cert: certificate, key }) };
  }

  private openHttp1(method: string, path: string, body: Buffer | undefined, headers: Headers): Promise<OpenAnswer> {
    const { hostname, port } = new URL(this.options.url);
    return new Promise((resolve, reject) => {
      const request = https.request({ hostname, port, path, method, headers, agent: this.agent });
      request.once('error', reject);
      request.once('response', (response) => {
        const ended = new Promise<'complete' | 'cut'>((done) =>
          response.once('close', () => done(response.complete ? 'complete' : 'cut')),
        );
        // Errors of the body are reported by its reader.
        request.on('error', () => undefined);
        response.on('error', () => undefined);
        resolve({
          code: response.statusCode ?? 0,
          headers: response.headers,
          body: response,
          ended,
          cancel: () => request.destroy(),
        });
      });
      request.end(body);
    });
  }

  private async openHttp2(
    method: string,
    path: string,
    body: Buffer | undefined,
    headers: Headers,
  ): Promise<OpenAnswer> {
    if (!this.session || this.session.closed || this.session.destroyed) {
      this.session = http2.connect(this.options.url, this.tls());
      this.session.on('error', () => undefined);
    }
    const stream = this.session.request({ ':method': method, ':path': path, ...headers }, { endStream: false });
    let isWhole = false;
    stream.once('end', () => (isWhole = true));
    const ended = new Promise<'complete' | 'cut'>((done) =>
      stream.once('close', () =>
        done(isWhole && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR ? 'complete' : 'cut'),
      ),
    );
    stream.end(body);
    const received = await new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
      stream.once('response', resolve);
      stream.once('error', reject);
      // A session that is cut closes its streams without an error.
      stream.once('close', () =>
        reject(new Error(`${method} ${path} was not answered: stream code ${stream.rstCode}`)),
      );
    });
    stream.on('error', () => undefined);
    const code = Number(received[':status'] ?? 0);
    return { code, headers: received, body: stream, ended, cancel: () => stream.close() };
  }
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** The events of a watch in JSON. */
export class Watch implements AsyncIterable<WatchEvent> {
  private readonly waiting: WatchEvent[] = [];
  private readonly lines: AsyncIterator<WatchEvent>;

  constructor(private readonly answer: OpenAnswer) {
    this.lines = this.read();
  }

  get headers(): IncomingHttpHeaders {
    return this.answer.headers;
  }
  get ended(): Promise<'complete' | 'cut'> {
    return this.answer.ended;
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent> {
    return this.lines;
  }

  /** The next event; undefined when the watch has ended. */
  async next(): Promise<WatchEvent | undefined> {
    const { value, done } = await this.lines.next();
    return done ? undefined : value;
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  /** The events up to the first one that `isLast` accepts. */
  async until(isLast: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    do events.push(...(await this.take(1)));
    while (!isLast(events.at(-1)!));
    return events;
  }

  /** All events until the server ends the watch. */
  async rest(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  close(): void {
    this.answer.cancel();
  }

  private async *read(): AsyncGenerator<WatchEvent> {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of this.answer.body) {
        text += decoder.decode(chunk as Buffer, { stream: true });
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          this.waiting.push(JSON.parse(text.slice(0, end)) as WatchEvent);
          text = text.slice(end + 1);
        }
        while (this.waiting.length > 0) yield this.waiting.shift()!;
      }
    } catch (error) {
      // A cut is reported by `ended`; the events received are valid.
      if ((await this.ended) !== 'cut') throw error;
    }
  }
}

async function readAll(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** `299 - "text"`, several in one line if Node has joined them. */
function warningsOf(headers: IncomingHttpHeaders): string[] {
  const lines = [headers['warning'] ?? []].flat();
  return lines.flatMap((line) =>
    [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replace(/\\(.)/g, '$1')),
  );
}
