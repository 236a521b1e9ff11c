import * as http from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { SecureContext, Server, TLSSocket } from 'node:tls';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SniContexts } from '../certificates/sni-contexts.js';
import type { TlsMaterial } from '../certificates/tls-material.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Auditor } from '../audit/auditor.js';
import { Connections } from '../connections/connections.js';
import { isHttp2Response, type AnyRequest, type AnyResponse } from '../connections/raw-messages.js';
import { makeProtocolServers, type RequestListener } from '../connections/protocol-servers.js';
import type { UpgradeRoutes } from '../connections/upgrades.js';
import { makeRoutable } from '../connections/unusual-requests.js';
import type { FlowControl } from '../flow/flow-control.js';
import type { RequestMetrics } from '../metrics/request-metrics.js';
import { answerError } from '../filters/api-error.filter.js';
import { registerAccessLog } from '../hooks/access-log.hook.js';
import { registerAudit } from '../hooks/audit.hook.js';
import { registerConsole } from '../hooks/console.hook.js';
import { registerCors } from '../hooks/cors.hook.js';
import { registerDeadline } from '../hooks/deadline.hook.js';
import { registerMetrics } from '../hooks/metrics.hook.js';
import { registerRefusals } from '../hooks/refusal.hook.js';
import { makeRequestState, registerRequestInfo } from '../hooks/request-info.hook.js';
import { ApiError } from '../machinery/api-error.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import { RoutedMethodsAdapter } from './routed-methods-adapter.js';

interface HookDependencies {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly wheel: TimerWheel;
  readonly requestMetrics: RequestMetrics;
  readonly auditor?: Auditor | undefined;
  readonly upgrades: UpgradeRoutes;
  readonly flowControl: FlowControl | undefined;
  readonly phase: { readonly isStopping: boolean; readonly isRefusing: boolean };
}

interface Tls {
  readonly material: TlsMaterial;
  readonly sni: SniContexts;
}

interface HttpServer {
  readonly adapter: FastifyAdapter;
  readonly connections: Connections;
}

/** Longer than any URL. The router's own bound protects regular expressions in routes; no route has one. */
const routeParameterLengthMax = 2 ** 21;

/** Serves a request by other components, or by `serve` later. Returns false, having done nothing, for most requests. */
export type Diversion = (request: AnyRequest, response: AnyResponse, serve: RequestListener) => boolean;

/** Creates the Fastify adapter for Nest: HTTP/2 and HTTP/1.1, chosen by ALPN, on one TLS port. */
export function makeHttpServer(
  config: ServerConfig,
  tls: Tls,
  components: HookDependencies,
  divert?: Diversion,
): HttpServer {
  const { serving, limits } = config;
  const { upgrades, flowControl } = components;
  let connections: Connections | undefined;
  const serverFactory = (route: RequestListener): Server => {
    const handle: RequestListener = (request, response) => {
      makeRoutable(request, limits.requestHeadersMax);
      route(request, response);
    };
    const serve: RequestListener = (request, response) => {
      const isHttp2 = flowControl !== undefined && isHttp2Response(response);
      if (!isHttp2 || !isHeld(flowControl, response, () => handle(request, response))) handle(request, response);
    };
    const begin: RequestListener = (request, response) => {
      connections!.begin(request, response);
      if (!divert?.(request, response, serve)) serve(request, response);
    };
    const servers = makeProtocolServers(tlsOptions(config, tls), { ...protocolBounds(config), upgrades }, begin);
    connections = new Connections(
      servers,
      {
        idleTimeoutMs: limits.idleConnectionTimeoutMs,
        headersTimeoutMs: limits.headersTimeoutMs,
        unreadBodyTimeoutMs: limits.unreadBodyTimeoutMs,
        goawayChance: serving.goawayChance,
        silenceMsMax: limits.http2SilenceMsMax,
        pingTimeoutMs: limits.http2PingTimeoutMs,
      },
      components,
    );
    servers.front.on('tlsClientError', (_error, socket: TLSSocket) => {
      components.requestMetrics.tlsHandshakeErrors++;
      // Node does not close a socket whose TLS handshake failed or timed out.
      socket.destroy();
    });
    return servers.front;
  };
  return { adapter: makeAdapter(config, components, serverFactory), connections: connections! };
}

/** Creates a Fastify adapter for Nest without a port. `serve` gives it a request; its URL is then the final one. */
export function makePortlessAdapter(config: ServerConfig, components: HookDependencies) {
  let route: RequestListener | undefined;
  const adapter = makeAdapter(config, components, (listener) => {
    route = listener;
    return http.createServer();
  });
  const serve: RequestListener = (request, response) => {
    makeRoutable(request, config.limits.requestHeadersMax);
    route!(request, response);
  };
  return { adapter, serve };
}

type ServerFactory = (route: RequestListener) => Server | http.Server;

function makeAdapter(config: ServerConfig, components: HookDependencies, serverFactory: ServerFactory): FastifyAdapter {
  const { serving, limits } = config;
  const { logger } = components;
  const options = {
    serverFactory,
    bodyLimit: limits.requestBodyBytesMax,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: routeParameterLengthMax },
    // Requests that the router refuses before any hook runs; makeRoutable should leave none.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      request.kube ??= makeRequestState(request, components);
      answerError(request, reply, request.kube.info.error ?? ApiError.badRequest(error.message, error), logger);
    },
    skipMiddie: true,
  };
  const adapter = new RoutedMethodsAdapter(options as never);
  const server = adapter.getInstance();
  // Hooks run in this order, for every request, including those that a guard rejects.
  registerRequestInfo(server, components);
  registerMetrics(server, components.requestMetrics);
  registerAccessLog(server, { logger, slowMs: limits.slowRequestMs, logsAll: config.log.level === 'debug' });
  registerRefusals(server, logger, () => components.phase.isRefusing);
  registerCors(server, serving.corsAllowedOrigins);
  if (serving.console) registerConsole(server);
  const { auditor, wheel } = components;
  if (auditor) registerAudit(server, { auditor, wheel, outcomeTimeoutMs: config.requestTimeoutMs });
  registerDeadline(server, {
    wheel: components.wheel,
    requestTimeoutMs: config.requestTimeoutMs,
    flushTimeoutMs: limits.unreadBodyTimeoutMs,
    logger,
  });
  // Handlers read bodies, after the guards. A parser that returns null leaves the body unread.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  return adapter;
}

/** Returns TLS options that request a client certificate but do not require one. */
function tlsOptions({ limits }: ServerConfig, { material, sni }: Tls) {
  return {
    ...material.current(),
    SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) =>
      done(null, sni.contextFor(name)),
    requestCert: material.clientCaBundle() !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.tlsHandshakeTimeoutMs,
  };
}

/** Returns true if a request over HTTP/2 waits for its turn, which calls `handle`. */
function isHeld({ pacing }: FlowControl, { stream }: Http2ServerResponse, handle: () => void): boolean {
  return stream.session !== undefined && pacing.holds(stream.session, stream, handle);
}

function protocolBounds({ serving, limits }: ServerConfig) {
  return {
    serveHttp2: serving.http2,
    streamsPerConnectionMax: serving.http2MaxStreamsPerConnection || limits.http2StreamsPerConnectionMax,
    headerBytesMax: limits.requestHeaderBytesMax,
    headersMax: limits.requestHeadersMax,
    headersTimeoutMs: limits.headersTimeoutMs,
    idleTimeoutMs: limits.idleConnectionTimeoutMs,
  };
}
