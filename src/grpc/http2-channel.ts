import { connect as connectHttp2, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '../std/clock.js';
import { bindWithoutDeprecatedProperty } from './bound-functions.js';
import { GrpcError, grpcStatus, MalformedMessageError, NotConnectedError } from './grpc-error.js';
import type { CallListener, Http2Call } from './http2-call.js';
import { Http2Connection } from './http2-connection.js';
import type { Cancellation } from '../std/cancellation.js';

export interface TlsFiles {
  readonly rootCertificate?: Buffer;
  readonly certChain?: Buffer;
  readonly privateKey?: Buffer;
}

interface Http2ChannelOptions {
  /**
   * `http://host:port`, `https://host:port`, `host:port`, `unix:path` or `unix:@name`. `https:` or TLS files mean TLS. The default of
   * the port is that of etcd.
   */
  readonly url: string;
  readonly tls?: TlsFiles | undefined;
  readonly clock: Clock;
  /** Maximum size of one message of the server. */
  readonly messageBytesMax?: number;
}

interface UnaryCall<T> {
  readonly path: string;
  readonly frame: Buffer;
  readonly decode: (message: Buffer) => T;
  /** In the time of the channel's clock. */
  readonly deadlineMs: number;
  readonly signal?: Cancellation | undefined;
  /** Metadata of this call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Flow control windows: pages of several megabytes must not wait for a window update every 64 KiB. */
const streamWindowBytes = 8 * 1024 * 1024;
const connectionWindowBytes = 32 * 1024 * 1024;

/** Delay before the next connection attempt after a failure; doubles from 50 ms to 1 s. */
const redialDelayMs = 50;
const redialDelayMsMax = 1_000;

/**
 * A gRPC client for one server (etcd, or a signer of tokens), without compression, retries or proxies. The connection
 * is opened on demand and replaced when it is lost.
 */
export class Http2Channel {
  private readonly dialSocket: () => Socket;
  private readonly origin: string;
  private readonly headers: OutgoingHttpHeaders;
  private connection: Http2Connection | undefined;
  private connecting: Promise<void> | undefined;
  private dialled: ClientHttp2Session | undefined;
  private isClosed = false;
  private failures = 0;
  private redialAtMs = 0;
  private lastFailure: NotConnectedError | undefined;

  constructor(private readonly options: Http2ChannelOptions) {
    bindWithoutDeprecatedProperty();
    const { url, tls } = options;
    const secureContext = tls || url.startsWith('https:') ? secureContextOf(tls ?? {}) : undefined;
    const { authority, dial } = targetOf(url, secureContext);
    this.dialSocket = dial;
    const scheme = secureContext ? 'https' : 'http';
    this.origin = `${scheme}://${authority}`;
    this.headers = {
      ':method': 'POST',
      ':scheme': scheme,
      ':authority': authority,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'keelson',
    };
  }

  isConnected(): boolean {
    return this.connection?.isOpen === true;
  }

  /** Resolves when calls can be made; rejects with NotConnectedError as soon as the connection has failed. */
  connect(timeoutMs: number): Promise<void> {
    if (this.isConnected()) return Promise.resolve();
    if (this.isClosed) return Promise.reject(new NotConnectedError('the channel was closed'));
    if (this.connecting) return this.connecting;
    const { clock } = this.options;
    if (this.lastFailure && clock.monotonicMs() < this.redialAtMs) return Promise.reject(this.lastFailure);
    this.connecting = this.dial(timeoutMs)
      .then(
        () => {
          this.failures = 0;
          this.lastFailure = undefined;
        },
        (error: NotConnectedError) => {
          this.lastFailure = error;
          const delayMs = Math.min(redialDelayMsMax, redialDelayMs * 2 ** Math.min(this.failures++, 10));
          this.redialAtMs = clock.monotonicMs() + delayMs;
          throw error;
        },
      )
      .finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  unary<T>({ path, frame, decode, deadlineMs, signal, headers }: UnaryCall<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let answer: { readonly message: T } | undefined;
      const call = this.start(
        path,
        {
          message(bytes) {
            if (answer) throw new MalformedMessageError('two messages in a unary response');
            answer = { message: decode(bytes) };
          },
          closed(error) {
            signal?.removeEventListener('abort', aborted);
            if (error) reject(error);
            else if (answer) resolve(answer.message);
            else reject(new MalformedMessageError('no message in a unary response'));
          },
        },
        deadlineMs,
        headers,
      );
      const aborted = () => call.cancel(new GrpcError(grpcStatus.cancelled, 'Cancelled', { cause: signal?.reason }));
      call.sendLast(frame);
      if (signal?.aborted) aborted();
      else signal?.addEventListener('abort', aborted);
    });
  }

  /** Opens a bidirectional stream without deadline. Throws NotConnectedError if there is no connection. */
  open(path: string, headers: OutgoingHttpHeaders, listener: CallListener): Http2Call {
    return this.start(path, listener, Infinity, headers);
  }

  /** Finds out soon whether the peer is alive, because a response is late. A connection that is not is lost. */
  verify(): void {
    this.connection?.verify();
  }

  close(): void {
    this.isClosed = true;
    this.dialled?.destroy();
    this.connection?.destroy(new GrpcError(grpcStatus.cancelled, 'the channel was closed'));
  }

  private start(path: string, listener: CallListener, deadlineMs: number, more?: OutgoingHttpHeaders): Http2Call {
    if (!this.connection) throw new NotConnectedError(`${this.options.url} is not connected`);
    const headers = { ...this.headers, ':path': path, ...more };
    return this.connection.start(headers, listener, deadlineMs);
  }

  private dial(timeoutMs: number): Promise<void> {
    const { url, clock } = this.options;
    return new Promise((resolve, reject) => {
      const session = connectHttp2(this.origin, {
        createConnection: this.dialSocket,
        settings: { enablePush: false, initialWindowSize: streamWindowBytes },
        // In MB, including queued data: the default of 10 would reject a few concurrent large writes.
        maxSessionMemory: 1_024,
      });
      this.dialled = session;
      let isReady = false;
      const failed = (reason: string, cause?: Error) => {
        if (isReady) return;
        timer.cancel();
        session.destroy();
        reject(new NotConnectedError(`${url} ${reason}`, { cause }));
      };
      const timer = clock.after(timeoutMs, () => failed('was not reached in time'));
      session.on('error', (error: Error) => failed(`cannot be reached: ${error.message}`, error));
      session.on('close', () => failed('closed the connection'));
      session.once('connect', () => {
        // The event comes a turn later, when the attempt may have been given up.
        if (!session.destroyed) session.setLocalWindowSize(connectionWindowBytes);
      });
      // A peer that accepts the connection may not speak HTTP/2, or not answer at all.
      session.once('remoteSettings', () => {
        isReady = true;
        timer.cancel();
        this.dialled = undefined;
        this.connection = new Http2Connection(session, clock, this.options.messageBytesMax);
        resolve();
      });
    });
  }
}

function secureContextOf({ rootCertificate, certChain, privateKey }: TlsFiles): SecureContext {
  return createSecureContext({ ca: rootCertificate, cert: certChain, key: privateKey });
}

function targetOf(url: string, secureContext: SecureContext | undefined) {
  const unixPath = /^unix:(?:\/\/)?(.+)$/.exec(url)?.[1];
  const { hostname, port } = unixPath === undefined ? hostOf(url) : { hostname: 'localhost', port: '' };
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // An abstract socket of Linux has a name that begins with a null byte.
  const where = unixPath === undefined ? { host, port: Number(port) } : { path: unixPath.replace(/^@/, '\0') };
  const dial = () => {
    const servername = isIP(host) ? {} : { servername: host };
    const socket = secureContext
      ? connectTls({ ...where, ...servername, secureContext, ALPNProtocols: ['h2'] })
      : connectTcp(where);
    return socket.setNoDelay(true);
  };
  return { authority: port === '' ? hostname : `${hostname}:${port}`, dial };
}

function hostOf(url: string): { hostname: string; port: string } {
  // The unknown scheme grpc: makes URL keep port 80 and host names as they are.
  const parsed = new URL(`grpc://${url.replace(/^[a-z]+:\/\//i, '')}`);
  if (parsed.hostname === '') throw new TypeError(`not the URL of a gRPC server: ${url}`);
  return { hostname: parsed.hostname, port: parsed.port || '2379' };
}
