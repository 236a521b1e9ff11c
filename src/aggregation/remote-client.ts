import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { forwardError } from '../forwarding/forward-error.js';
import { authorityOf } from '../forwarding/forward-target.js';
import type { Upstreams } from '../forwarding/upstreams.js';
import { privilegedGroup, type UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import { identityHeaders, type IdentityHeaderNames } from './identity-headers.js';
import type { RemoteTargets } from './remote-targets.js';
import type { RemoteVersion } from './remote-version.js';

interface Dependencies {
  readonly targets: RemoteTargets;
  readonly upstreams: Upstreams;
  readonly names: IdentityHeaderNames;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** `system:kube-aggregator` */
  readonly userName: string;
}

interface RemoteRead {
  readonly path: string;
  readonly accept: string;
  readonly etag?: string | undefined;
  /** Limit on the body of the answer; the body is not read if absent. */
  readonly bytesMax?: number;
}

/** A request on behalf of a user. */
interface RemoteRequest extends RemoteRead {
  readonly method: string;
  /** JSON of `contentType`. */
  readonly body?: string | undefined;
  readonly contentType?: string;
  readonly user: UserInfo;
}

interface RemoteAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `https://10.0.0.7:443/apis/example.com/v1` */
  readonly url: string;
}

/** A call without a complete answer. */
export class RemoteCallError extends Error {
  override readonly name = 'RemoteCallError';

  constructor(
    readonly url: string,
    reason: string,
    cause?: unknown,
  ) {
    super(reason, { cause });
  }
}

/** Calls of aggregated servers that no client has asked for. */
export class RemoteClient {
  private readonly user: UserInfo;

  constructor(private readonly dependencies: Dependencies) {
    this.user = { name: dependencies.userName, uid: '', groups: [privilegedGroup], extra: {} };
  }

  /** Reads a document as the user system:kube-aggregator. Rejects as request(). */
  get(version: RemoteVersion, request: RemoteRead, signal: AbortSignal): Promise<RemoteAnswer> {
    return this.request(version, { ...request, method: 'GET', user: this.user }, signal);
  }

  /** Rejects with a RemoteCallError if there is no complete answer in time, and as RemoteTargets.of() throws. */
  async request(version: RemoteVersion, request: RemoteRequest, signal: AbortSignal): Promise<RemoteAnswer> {
    const { targets, upstreams, names, clock, timeoutMs } = this.dependencies;
    const { method, body: sentBody, contentType = 'application/json' } = request;
    const target = targets.of(version);
    const url = `https://${authorityOf(target)}${request.path}`;
    const { namespace, name } = version.service;
    const sent = upstreams.open(target, {
      method,
      path: request.path,
      headers: [
        ...['Host', `${name}.${namespace}.svc`, 'User-Agent', 'keelson', 'Accept-Encoding', 'identity'],
        ...['Accept', request.accept, ...identityHeaders(request.user, names).flat()],
        ...(request.etag === undefined ? [] : ['If-None-Match', request.etag]),
        ...(sentBody === undefined
          ? []
          : ['Content-Type', contentType, 'Content-Length', String(Buffer.byteLength(sentBody))]),
      ],
    });
    const stop = (reason: string) => sent.destroy(new Error(reason));
    const aborted = () => stop('this server stops');
    const timer = clock.after(timeoutMs, () => stop(`no answer in ${timeoutMs / 1000} s`));
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
    let isConnected = false;
    try {
      const message = await answerOf(sent, sentBody);
      isConnected = true;
      const body = await readBody(message, request.bytesMax);
      return { status: message.statusCode ?? 0, headers: message.headers, body, url };
    } catch (error) {
      targets.failed(version);
      sent.destroy();
      throw new RemoteCallError(
        url,
        `${goMethod(method)} "${url}": ${forwardError(error, target, isConnected).message}`,
        error,
      );
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', aborted);
    }
  }
}

/** As errors of Go's client begin: `Get`. */
function goMethod(method: string): string {
  return method.charAt(0) + method.slice(1).toLowerCase();
}

function answerOf(sent: ReturnType<Upstreams['open']>, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', resolve);
    // An answer to a request that asked for no other protocol.
    sent.on('upgrade', (_message, socket) => {
      socket.destroy();
      reject(new Error('the server switches protocols'));
    });
    sent.end(body);
  });
}

async function readBody(message: IncomingMessage, bytesMax: number | undefined): Promise<Buffer> {
  if (bytesMax === undefined) {
    message.on('error', () => undefined);
    message.destroy();
    return Buffer.alloc(0);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
