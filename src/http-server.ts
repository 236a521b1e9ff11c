import type { Socket } from 'node:net';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { SecureContext, TLSSocket } from 'node:tls';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SniContexts } from './certificates/sni-contexts.js';
import type { TlsMaterial } from './certificates/tls-material.js';
import type { ServerConfig } from './config/server-config.js';
import type { RequestMetrics } from './endpoints/metrics-requests.js';
import { answerError } from './filters/api-error.filter.js';
import { registerAccessLog } from './hooks/access-log.hook.js';
import { registerCors } from './hooks/cors.hook.js';
import { registerDeadline } from './hooks/deadline.hook.js';
import { registerMetrics } from './hooks/metrics.hook.js';
import { makeRequestState, registerRequestInfo } from './hooks/request-info.hook.js';
import { refuseUnreadable } from './hooks/unreadable-request.js';
import { ApiError } from './machinery/api-error.js';
import type { Clock } from './std/clock.js';
import type { Logger } from './std/logger.js';
import type { Rng } from './std/rng.js';
import type { TimerWheel } from './std/timer-wheel.js';

interface HookParts {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly wheel: TimerWheel;
  readonly requestMetrics: RequestMetrics;
}

interface Tls {
  readonly material: TlsMaterial;
  readonly sni: SniContexts;
}

/** Fastify behind Nest: HTTP/2 and HTTP/1.1 by ALPN on one TLS port, client certificates asked for but not required. */
export function makeAdapter(config: ServerConfig, { material, sni }: Tls, parts: HookParts): FastifyAdapter {
  const { serving, limits } = config;
  const { logger, clock } = parts;
  const https = {
    ...material.current(),
    SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) =>
      done(null, sni.contextFor(name)),
    requestCert: material.clientCaBundle() !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.tlsHandshakeTimeoutMs,
    maxHeaderSize: limits.requestHeaderBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: 0,
    // HTTP servers have it by default; for HTTP/1 beside HTTP/2 it must be said, or small answers wait for each other.
    noDelay: true,
  };
  const shared = {
    bodyLimit: limits.requestBodyBytesMax,
    keepAliveTimeout: limits.idleConnectionTimeoutMs,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
    // A URL that the router cannot read gets here before any hook.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      request.kube ??= makeRequestState(request, parts);
      answerError(request, reply, request.kube.info.error ?? ApiError.badRequest(error.message, error), logger);
    },
    clientErrorHandler: refuseUnreadable,
    skipMiddie: true,
  };
  const http2 = {
    allowHTTP1: true,
    settings: { maxConcurrentStreams: streamsMax(config) },
    maxSettings: 64,
    maxSessionInvalidFrames: 1000,
  };
  // A session timeout would end quiet watches.
  const options = serving.http2
    ? { ...shared, http2: true as const, http2SessionTimeout: 0, https: { ...https, ...http2 } }
    : { ...shared, https };
  const adapter = new FastifyAdapter(options as never) as unknown as FastifyAdapter;
  const server = adapter.getInstance();
  server.server.on('tlsClientError', () => parts.requestMetrics.tlsHandshakeErrors++);
  // In this order, for every request, also one that no guard lets in.
  registerRequestInfo(server, parts);
  registerMetrics(server, parts.requestMetrics, clock);
  registerAccessLog(server, { logger, clock, slowMs: limits.slowRequestMs, logsAll: config.log.level === 'debug' });
  registerCors(server, serving.corsAllowedOrigins);
  registerDeadline(server, { wheel: parts.wheel, requestTimeoutMs: config.requestTimeoutMs, logger });
  // Bodies are read after the guards, by whoever wants them: a parser that yields nothing leaves them unread.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  return adapter;
}

function streamsMax({ serving, limits }: ServerConfig): number {
  return serving.http2MaxStreamsPerConnection || limits.http2StreamsPerConnectionMax;
}

/** The connections of a server, so that it can let go of them when it stops. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  /** Requests that have begun and not ended, watches included. */
  private underWay = 0;
  private readonly busy = new Map<Socket, number>();
  private stopping = false;

  constructor(
    app: NestFastifyApplication,
    private readonly clock: Clock,
    headersMax: number,
  ) {
    const server = app.getHttpServer() as unknown as Http2SecureServer & { maxHeadersCount: number };
    // Of HTTP/1 requests; HTTP/2 bounds the bytes of all headers together.
    server.maxHeadersCount = headersMax;
    server.on('secureConnection', (socket: TLSSocket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('session', (session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
    });
    server.on('request', (request, response) => {
      const { socket } = request;
      this.underWay++;
      this.busy.set(socket, (this.busy.get(socket) ?? 0) + 1);
      response.once('close', () => {
        this.underWay--;
        const left = (this.busy.get(socket) ?? 1) - 1;
        if (left > 0) this.busy.set(socket, left);
        else {
          this.busy.delete(socket);
          if (this.stopping) socket.destroySoon?.();
        }
      });
    });
  }

  get requestsUnderWay(): number {
    return this.underWay;
  }

  /** No new requests; those under way may end within the grace time. */
  async drain(graceMs: number): Promise<void> {
    this.stopping = true;
    for (const session of this.sessions) session.close();
    for (const socket of this.sockets) if (!this.busy.has(socket) && !isHttp2(socket)) socket.destroySoon();
    const deadline = this.clock.monotonicMs() + graceMs;
    while (this.underWay > 0 && this.clock.monotonicMs() < deadline) {
      await new Promise<void>((resolve) => this.clock.after(5, resolve));
    }
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
  }
}

function isHttp2(socket: Socket): boolean {
  return (socket as TLSSocket).alpnProtocol === 'h2';
}
