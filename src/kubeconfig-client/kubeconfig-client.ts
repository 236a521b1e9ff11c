import { decodeJson, encodeJson } from '../codec/json.js';
import type { KubeObject, JsonValue } from '../machinery/kube-object.js';
import { CheckedFields } from './checked-fields.js';
import { ClientError } from './client-error.js';
import { readBody, readLines } from './exchange.js';
import {
  responseBytesMaxDefault,
  type ClientRequest,
  type ClientResponse,
  type HttpClient,
  type OpenAnswer,
  type RequestOptions,
} from './http-client.js';

export interface KubeList<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

interface ErrorEvent {
  readonly type: 'ERROR';
  readonly object: unknown;
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  /** Needs `query: { fieldManager }`. */
  apply: 'application/apply-patch+yaml',
} as const;

export interface PatchOptions extends RequestOptions {
  /** Default: merge. */
  readonly type?: keyof typeof patchTypes;
}

/** Requests to the server of a kubeconfig. Objects are JSON; integers beyond 2^53 are bigint. */
export class KubeconfigClient {
  constructor(
    private readonly http: HttpClient,
    /** Namespace of the context; `default` if it has none. */
    readonly namespace: string,
  ) {}

  /** The path of `server` in the kubeconfig, without a slash at its end. */
  get basePath(): string {
    return this.http.basePath;
  }

  /** Sends any request. Resolves with every status; rejects if there is no complete answer. */
  request(request: ClientRequest): Promise<ClientResponse> {
    return this.http.request(request);
  }

  /** Sends any request. Resolves with the head of the answer, whose body the caller reads; call its `end()` afterwards. */
  open(request: ClientRequest): Promise<OpenAnswer> {
    return this.http.open(request);
  }

  get<T = KubeObject>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.json<T>({ ...options, method: 'GET', path });
  }

  /** Returns one page: all objects, unless `query` has a limit. */
  list<T = KubeObject>(path: string, options: RequestOptions = {}): Promise<KubeList<T>> {
    return this.json<KubeList<T>>({ ...options, method: 'GET', path });
  }

  create<T = KubeObject>(path: string, object: unknown, options: RequestOptions = {}): Promise<T> {
    return this.json<T>({ ...options, method: 'POST', path }, object);
  }

  update<T = KubeObject>(path: string, object: unknown, options: RequestOptions = {}): Promise<T> {
    return this.json<T>({ ...options, method: 'PUT', path }, object);
  }

  patch<T = KubeObject>(path: string, patch: unknown, { type = 'merge', ...options }: PatchOptions = {}): Promise<T> {
    return this.json<T>({ ...options, method: 'PATCH', path }, patch, patchTypes[type]);
  }

  /** `deleteOptions` as the API defines them: `{ propagationPolicy: 'Foreground' }`. */
  delete<T = KubeObject>(path: string, options: RequestOptions = {}, deleteOptions?: unknown): Promise<T> {
    return this.json<T>({ ...options, method: 'DELETE', path }, deleteOptions);
  }

  /**
   * Yields the events of a watch until the server ends it, which every server does at times, and which a changed client
   * certificate does: watch again from the last resourceVersion. Throws for an ERROR event, such as 410 Expired.
   */
  async *watch<T = KubeObject>(path: string, options: RequestOptions = {}): AsyncGenerator<WatchEvent<T>, void> {
    const request = { ...options, method: 'GET', path, query: { ...options.query, watch: true } };
    const subject = this.http.subject(request);
    const answer = await this.http.open(request);
    const { message, connection } = answer;
    const { socket } = message;
    connection.watches.add(socket);
    try {
      if (message.statusCode !== 200) {
        throw statusError(message.statusCode, await readBody(message, responseBytesMaxDefault, subject), subject);
      }
      // Finds out that the server is gone.
      socket.setKeepAlive(true, keepAliveMs);
      for await (const line of readLines(message, responseBytesMaxDefault, subject)) {
        const event = decoded(line, subject) as unknown as WatchEvent<T> | ErrorEvent;
        if (event.type === 'ERROR') throw statusError(undefined, encodeJson(event.object), subject);
        yield event;
      }
    } catch (error) {
      if (!connection.isRetired || error instanceof ClientError) throw answer.failure(error);
    } finally {
      connection.watches.delete(socket);
      answer.end();
    }
  }

  /** Closes idle connections and watches. Without it they do not keep the process alive, except for watches. */
  close(): void {
    this.http.close();
  }

  private async json<T>(request: ClientRequest, object?: unknown, contentType = 'application/json'): Promise<T> {
    const headers = { ...request.headers, ...(object !== undefined && { 'Content-Type': contentType }) };
    const body = object === undefined ? {} : { body: encodeJson(object) };
    const answer = await this.http.request({ ...request, headers, ...body });
    const subject = this.http.subject(request);
    if (answer.status < 200 || answer.status > 299) throw statusError(answer.status, answer.body, subject);
    return decoded(answer.body, subject) as T;
  }
}

/** As Go's clients. */
const keepAliveMs = 30_000;
/** Characters of an answer that is not a Status. */
const shownMax = 200;

function decoded(bytes: Buffer, subject: string): JsonValue {
  try {
    return decodeJson(bytes);
  } catch {
    throw new ClientError('Connection', `${subject}: the answer is not JSON; check server in the kubeconfig`);
  }
}

/** Returns the error for a Status, or for another answer of a proxy. `status` is absent if the Status has its own. */
function statusError(status: number | undefined, body: Buffer, subject: string): ClientError {
  let text = body.subarray(0, shownMax).toString('utf8');
  let reason: string | undefined;
  let code = status;
  try {
    const fields = CheckedFields.of(decodeJson(body), '', (problem) => new Error(problem));
    text = fields.text('message') ?? '';
    reason = fields.text('reason');
    code ??= Number(fields.value('code') ?? 0);
  } catch {
    // Shows the first characters of an answer of a proxy.
  }
  const name = reason === undefined ? `${code}` : `${code} ${reason}`;
  return new ClientError('Status', `${subject}: ${name}${text === '' ? '' : `: ${text}`}`, {
    ...(code !== undefined && { status: code }),
    ...(reason !== undefined && { reason }),
  });
}
