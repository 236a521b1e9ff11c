import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { sleep, type Clock } from '../std/clock.js';
import { ClientError } from './client-error.js';
import { connectionError } from './connection-error.js';
import type { Connection, Connections } from './connections.js';
import { areEqual, type Credentials, type CredentialSource } from './credentials.js';
import { Deadline } from './deadline.js';
import { connectionRefused, type InjectedCall } from './injected-call.js';
import { exchange, readBody } from './exchange.js';
import type { Kubeconfig } from './kubeconfig.js';
import type { LiveContent } from './live-content.js';

export interface RequestOptions {
  /** Limit on the whole call, with plug-ins and retries. Default: 30 s. For a watch, until its first byte. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Retries after an answer 429 or 503 with Retry-After. Default: 0. */
  readonly retriesMax?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** `{ labelSelector: 'app=web', limit: 500 }` */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
}

export interface ClientRequest extends RequestOptions {
  readonly method: string;
  /** Percent-encoded, with or without a query: `/api/v1/namespaces`. Empty: the path of `server` in the kubeconfig. */
  readonly path: string;
  /**
   * True for a request that a server may get twice, which is repeated like a read if the server has just closed the idle
   * connection.
   */
  readonly isRepeatable?: boolean;
  readonly body?: Uint8Array | string;
  /** Limit on the body of the answer. Default: 64 MiB. */
  readonly responseBytesMax?: number;
  /** A delay before the request is sent, or a result instead of sending it. */
  readonly injected?: InjectedCall | undefined;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Answer {
  readonly message: IncomingMessage;
  readonly connection: Connection;
}

/** An answer whose body is still to be read. */
export interface OpenAnswer extends Answer {
  /** Converts an error of reading the body. */
  failure(error: unknown): Error;
  /** Must be called when the body has been read or is not wanted. */
  end(): void;
}

interface Dependencies {
  readonly kubeconfig: Kubeconfig;
  readonly certificateAuthority: LiveContent | undefined;
  readonly credentials: CredentialSource;
  readonly connections: Connections;
  readonly clock: Clock;
}

const timeoutMsDefault = 30_000;
export const responseBytesMaxDefault = 64 * 1024 * 1024;
/** Retry-After of a server that is misconfigured should not hold a caller. */
const retryAfterMsMax = 30_000;

/** Sends authenticated requests to the server of a kubeconfig. */
export class HttpClient {
  constructor(private readonly dependencies: Dependencies) {}

  async request(request: ClientRequest): Promise<ClientResponse> {
    const deadline = this.deadline(request);
    const bytesMax = request.responseBytesMax ?? responseBytesMaxDefault;
    try {
      const injected = request.injected && (await this.inject(request.injected, deadline));
      if (injected) return injected;
      for (let attempt = 0; ; attempt++) {
        const { message } = await this.openUntil(request, deadline);
        const body = await readBody(message, bytesMax, this.subject(request));
        const { statusCode: status = 0, headers } = message;
        const delayMs = retryDelayMs(status, headers);
        if (delayMs === undefined || attempt >= (request.retriesMax ?? 0)) return { status, headers, body };
        await sleep(this.dependencies.clock, delayMs, deadline.signal);
      }
    } catch (error) {
      throw this.failure(error, request, deadline);
    } finally {
      deadline.end();
    }
  }

  /** Resolves with the injected answer, or with undefined if the request is to be sent. */
  private async inject({ latencyMs, result }: InjectedCall, deadline: Deadline): Promise<ClientResponse | undefined> {
    if (latencyMs > 0) await sleep(this.dependencies.clock, latencyMs, deadline.signal);
    if (result === 'no answer') return deadline.wait(new Promise<never>(() => undefined));
    if (result === 'connection refused') throw connectionRefused();
    return result && { ...result, headers: {} };
  }

  /** Resolves with the head of an answer, whose body the caller reads. timeoutMs limits the time until then. */
  async open(request: ClientRequest): Promise<OpenAnswer> {
    const deadline = this.deadline(request);
    const failure = (error: unknown) => this.failure(error, request, deadline);
    try {
      const answer = await this.openUntil(request, deadline);
      deadline.cancelTimer();
      const end = () => {
        deadline.end();
        answer.message.destroy();
      };
      return { ...answer, failure, end };
    } catch (error) {
      deadline.end();
      throw failure(error);
    }
  }

  /** The path of `server`, without a slash at its end. */
  get basePath(): string {
    return this.dependencies.kubeconfig.cluster.server.pathname.replace(/\/$/, '');
  }

  /** The request and its host for messages, without the query, which may be long. */
  subject({ method, path }: ClientRequest): string {
    return `${method} ${this.dependencies.kubeconfig.cluster.server.origin}${path.replace(/\?.*$/s, '')}`;
  }

  close(): void {
    this.dependencies.credentials.close();
    this.dependencies.connections.close();
  }

  /** Sends a request, and once more with new credentials if the server answers 401. */
  private async openUntil(request: ClientRequest, deadline: Deadline): Promise<Answer> {
    const { credentials: source } = this.dependencies;
    const credentials = await deadline.wait(source.get());
    const answer = await this.send(request, credentials, deadline);
    if (answer.message.statusCode !== 401 || !source.reject(credentials)) return answer;
    const renewed = await deadline.wait(source.get()).catch((error: unknown) => {
      answer.message.destroy();
      throw error;
    });
    if (areEqual(renewed, credentials)) return answer;
    answer.message.resume();
    return this.send(request, renewed, deadline);
  }

  private async send(
    request: ClientRequest,
    { token, clientCertificate }: Credentials,
    deadline: Deadline,
  ): Promise<Answer> {
    const { kubeconfig, connections } = this.dependencies;
    const certificateAuthority = await deadline.wait(
      this.dependencies.certificateAuthority?.read() ?? Promise.resolve(undefined),
    );
    const connection = connections.with({ certificateAuthority, clientCertificate });
    const { server } = kubeconfig.cluster;
    const message = await exchange(connection, {
      method: request.method,
      server,
      path: `${this.basePath === '' && request.path === '' ? '/' : this.basePath}${withQuery(request)}`,
      isRepeatable: request.isRepeatable ?? ['GET', 'HEAD'].includes(request.method),
      headers: {
        Accept: 'application/json',
        'User-Agent': 'keelson-client',
        ...request.headers,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...kubeconfig.user.impersonation,
      },
      body: request.body === undefined ? undefined : Buffer.from(request.body),
      signal: deadline.signal,
    });
    return { message, connection };
  }

  /** Returns the reason of an abort, or the error of the connection. */
  private failure(error: unknown, request: ClientRequest, { signal }: Deadline): Error {
    return signal.aborted ? (signal.reason as Error) : connectionError(error, this.subject(request));
  }

  private deadline(request: ClientRequest): Deadline {
    const { timeoutMs = timeoutMsDefault, signal } = request;
    const timeoutError = () =>
      new ClientError(
        'Timeout',
        `${this.subject(request)}: no answer in ${timeoutMs} ms; check the server, or allow more time`,
      );
    return new Deadline(this.dependencies.clock, timeoutMs, timeoutError, signal);
  }
}

function withQuery({ path, query = {} }: ClientRequest): string {
  if (path !== '' && !path.startsWith('/')) throw new Error('the path must begin with "/"');
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  if (pairs.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

/** Returns the delay that a server demands before a retry; undefined if the answer is not such a demand. */
function retryDelayMs(status: number, headers: IncomingHttpHeaders): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(headers['retry-after'] ?? NaN);
  return seconds >= 0 ? Math.min(seconds * 1000, retryAfterMsMax) : undefined;
}
