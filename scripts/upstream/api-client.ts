import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeJson } from '../../src/codec/json.js';
import { asFields, asText, type Fields } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';

interface Credentials {
  readonly url: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export interface ApiAnswer {
  readonly code: number;
  readonly text: string;
  /** Empty if the body is not JSON. */
  readonly body: Fields;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject;
}

const requestMsMax = 60_000;
const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A client of one API server over HTTP/1.1 with a client certificate. */
export class ApiClient {
  private readonly agent: Agent;
  private readonly watches = new Set<() => void>();

  constructor(
    readonly name: string,
    private readonly credentials: Credentials,
  ) {
    const { ca, certificate, key } = credentials;
    this.agent = new Agent({ keepAlive: true, maxSockets: 512, ca, cert: certificate, key });
  }

  get = (path: string, accept?: string) => this.request('GET', path, undefined, undefined, accept);
  post = (path: string, body: unknown) => this.request('POST', path, body);
  put = (path: string, body: unknown) => this.request('PUT', path, body);
  delete = (path: string, body?: unknown) => this.request('DELETE', path, body);
  patch = (path: string, body: unknown, type: keyof typeof patchTypes = 'merge') =>
    this.request('PATCH', path, body, patchTypes[type]);

  /** Throws unless the answer is a success. */
  async must(answer: Promise<ApiAnswer>): Promise<Fields> {
    const { code, text, body } = await answer;
    if (code < 300) return body;
    throw new Error(`${this.name} answered ${code}: ${asText(body['message']) || text.slice(0, 300)}`);
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
    accept?: string,
  ): Promise<ApiAnswer> {
    const response = await this.open(method, path, body, type, accept);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers['content-type']?.includes('json') === true && text !== '';
    return { code: response.statusCode ?? 0, text, body: isJson ? asFields(JSON.parse(text)) : {} };
  }

  /** Calls `listener` with each event until the returned function is called; a watch that ends is reopened. */
  async watch(path: string, listener: (event: WatchEvent) => void): Promise<() => void> {
    let isStopped = false;
    let current = await this.openWatch(path);
    const stop = () => {
      isStopped = true;
      this.watches.delete(stop);
      current.destroy();
    };
    this.watches.add(stop);
    void (async () => {
      while (!isStopped) {
        try {
          for await (const line of createInterface(current)) listener(JSON.parse(line) as WatchEvent);
        } catch {
          // A cut connection ends the watch as a timeout does.
        }
        while (!isStopped) {
          await sleep(200);
          const next = await this.openWatch(path).catch(() => undefined);
          if (next === undefined) continue;
          current = next;
          break;
        }
      }
      current.destroy();
    })();
    return stop;
  }

  close(): void {
    for (const stop of [...this.watches]) stop();
    this.agent.destroy();
  }

  private async openWatch(path: string): Promise<IncomingMessage> {
    const response = await this.open('GET', `${path}${path.includes('?') ? '&' : '?'}watch=1`);
    if (response.statusCode === 200) return response;
    response.resume();
    throw new Error(`${this.name} refused to watch ${path}: ${response.statusCode}`);
  }

  private open(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
    accept = 'application/json',
  ): Promise<IncomingMessage> {
    const bytes = body === undefined ? undefined : encodeJson(body);
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.credentials.url), {
        method,
        agent: this.agent,
        headers: {
          accept,
          'user-agent': 'keelson-upstream-checks',
          ...(bytes && { 'content-type': type, 'content-length': bytes.length }),
        },
      });
      const late = setTimeout(() => sent.destroy(new Error('no answer in time')), requestMsMax);
      sent.once('response', (response) => {
        clearTimeout(late);
        resolve(response);
      });
      sent.once('error', (error) => {
        clearTimeout(late);
        reject(new Error(`${this.name}: ${method} ${path}: ${error.message}`));
      });
      sent.end(bytes);
    });
  }
}
