import { request, Agent } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { ApiFailure, type Api, type Call, type ObjectRef, type Pace, type CollectionRef, type Query } from './api.js';
import type { WatchHandle, WatchListener } from './api.js';

interface HttpApiOptions {
  readonly url: string;
  readonly ca: string;
  readonly client: { readonly certificate: string; readonly key: string };
  /** Timeout of a request. */
  readonly timeoutMs?: number;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** A server over HTTPS. */
export class HttpApi implements Api {
  private readonly agent: Agent;

  constructor(
    readonly name: string,
    private readonly options: HttpApiOptions,
  ) {
    const { ca, client } = options;
    this.agent = new Agent({ keepAlive: true, ca, cert: client.certificate, key: client.key });
  }

  createNamespace: Api['createNamespace'] = (name) =>
    this.ask('POST', '/api/v1/namespaces', { metadata: { name } }, undefined);
  create: Api['create'] = ({ resource, namespace }, object, call) =>
    this.ask('POST', this.path({ resource, namespace }, callQuery(call)), object, call);
  update: Api['update'] = (ref, object, call) => this.ask('PUT', this.path(ref, callQuery(call)), object, call);
  patch: Api['patch'] = (ref, type, body, call) =>
    this.ask('PATCH', this.path(ref, callQuery(call)), body, call, patchTypes[type]);
  remove: Api['remove'] = (ref, options, call) => this.ask('DELETE', this.path(ref, callQuery(call)), options, call);
  get: Api['get'] = (ref, query, call) => this.ask('GET', this.path(ref, query), undefined, call);

  /** Server-side apply with force. */
  apply(ref: ObjectRef, object: KubeObject, fieldManager: string): Promise<KubeObject> {
    const path = this.path(ref, { fieldManager, force: 'true' });
    return this.ask('PATCH', path, object, undefined, 'application/apply-patch+yaml');
  }

  removeAll: Api['removeAll'] = async (selection, call) => {
    const path = this.path(selection, { ...selection.query, ...callQuery(call) });
    const list = await this.ask('DELETE', path, { gracePeriodSeconds: 0 }, call);
    return list['items'] as KubeObject[];
  };

  list: Api['list'] = async (selection, query) => {
    const list = await this.ask('GET', this.path(selection, query), undefined, undefined);
    const { resourceVersion, continue: token, remainingItemCount } = list.metadata as Record<string, unknown>;
    return {
      revision: Number(resourceVersion),
      items: list['items'] as KubeObject[],
      continueToken: token as string | undefined,
      remaining: remainingItemCount as number | undefined,
    };
  };

  watch: Api['watch'] = async (selection, query, listener, pace) => {
    const path = this.path(selection, { ...query, watch: 'true' });
    const response = await this.send('GET', path, undefined, undefined);
    if (response.statusCode !== 200) await readAnswer(response, path);
    return new HttpWatch(response, listener, pace);
  };

  /** True if /readyz succeeds. */
  async isReady(): Promise<boolean> {
    try {
      const response = await this.send('GET', '/readyz', undefined, undefined);
      response.resume();
      return response.statusCode === 200;
    } catch {
      return false;
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private path({ resource, namespace, name, subresource }: CollectionRef & Partial<ObjectRef>, query: Query): string {
    const scope = namespace === '' ? '' : `namespaces/${namespace}/`;
    const tail = [name, subresource].filter((part) => part !== undefined).map((part) => `/${part}`);
    const text = new URLSearchParams(query).toString();
    return `/api/v1/${scope}${resource}${tail.join('')}${text === '' ? '' : `?${text}`}`;
  }

  private async ask(method: string, path: string, body: unknown, call?: Call, type?: string): Promise<KubeObject> {
    return readAnswer(await this.send(method, path, body, call, type), `${method} ${path}`);
  }

  private send(
    method: string,
    path: string,
    body: unknown,
    call: Call | undefined,
    contentType = 'application/json',
  ): Promise<IncomingMessage> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const failed = (error: Error) => reject(new ApiFailure(0, 'NoAnswer', `${method} ${path}: ${error.message}`));
      const sent = request(new URL(path, this.options.url), {
        method,
        agent: this.agent,
        headers: {
          accept: 'application/json',
          // Node would send the body of a DELETE without a Content-Length.
          ...(bytes && { 'content-type': contentType, 'content-length': bytes.length }),
        },
        ...(call?.signal && { signal: call.signal }),
      });
      const timeoutMs = this.options.timeoutMs ?? 15_000;
      const timer = setTimeout(() => sent.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
      sent.on('close', () => clearTimeout(timer));
      sent.on('error', failed);
      sent.on('response', (response) => {
        clearTimeout(timer);
        response.on('error', failed);
        resolve(response);
      });
      sent.end(bytes);
    });
  }
}

const callQuery = (call: Call | undefined): Query => (call?.dryRun ? { dryRun: 'All' } : {});

async function readAnswer(response: IncomingMessage, what: string): Promise<KubeObject> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw new ApiFailure(0, 'CutAnswer', (error as Error).message);
  }
  const text = Buffer.concat(chunks).toString();
  const code = response.statusCode ?? 0;
  let answer: KubeObject & { reason?: string; message?: string };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new ApiFailure(code < 400 ? 0 : code, 'NotJson', text.slice(0, 200));
  }
  if (code < 400) return answer;
  if (answer.kind !== 'Status') throw new ApiFailure(code, 'NoStatus', text.slice(0, 500));
  const token = (answer.metadata as { continue?: string }).continue;
  throw new ApiFailure(code, answer.reason ?? '', `${what}: ${answer.message}`, token);
}

/** A watch as lines of JSON. A slow client lets the connection fill up and reads some at a time. */
class HttpWatch implements WatchHandle {
  private rest = '';
  private isClosed = false;

  constructor(
    private readonly response: IncomingMessage,
    private readonly listener: WatchListener,
    private pace: Pace,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.take(text));
    const ended = () => {
      if (this.isClosed) return;
      this.isClosed = true;
      listener.ended();
    };
    response.on('end', ended);
    response.on('close', ended);
    response.on('error', ended);
  }

  stopPacing(): void {
    this.pace = { eventsMax: Infinity, delayMs: 0 };
  }

  close(): void {
    this.isClosed = true;
    this.response.destroy();
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n');
    // An incomplete line was not received.
    this.rest = lines.pop()!;
    for (const line of lines) {
      if (this.isClosed) return;
      const { type, object } = JSON.parse(line) as { type: string; object: KubeObject };
      this.listener.event(type, object);
    }
    if (this.pace.delayMs === 0 || lines.length < this.pace.eventsMax) return;
    this.response.pause();
    setTimeout(() => this.response.resume(), this.pace.delayMs).unref();
  }
}
