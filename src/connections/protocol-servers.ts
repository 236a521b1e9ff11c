import * as http from 'node:http';
import * as http2 from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { refuseUnreadable } from '../hooks/unreadable-request.js';
import type { AnyRequest, AnyResponse } from './raw-messages.js';
import { refuse } from './unusual-requests.js';
import { continueWhenRead } from './expectations.js';
import { ApiError } from '../machinery/api-error.js';
import { prepareUpgrade, responseOn, upgradableMessages, type UpgradeRules } from './upgrades.js';

interface ProtocolBounds {
  readonly serveHttp2: boolean;
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Decides which requests may leave HTTP; none if absent. */
  readonly upgrades?: UpgradeRules | undefined;
}

export interface ProtocolServers {
  /** Owns the port and the TLS handshakes. */
  readonly front: tls.Server;
  readonly http1: http.Server;
  readonly http2: http2.Http2Server;
  /** Connections that have left HTTP. */
  readonly upgraded: ReadonlySet<Duplex>;
}

export type RequestListener = (request: AnyRequest, response: AnyResponse) => void;

/** As Go's server. Larger frames need fewer CONTINUATION frames for a large head; nghttp2 accepts eight. */
const frameBytesMax = 1024 * 1024;
const settingsPerFrameMax = 64;
const invalidFramesMax = 1000;
/** Mostly responses that wait for window updates: a starting controller lists many kinds at once on one session. */
const sessionMegabytesMax = 64;
/** Interval of TCP keep-alive probes, which detect vanished peers; as in kube-apiserver. */
const tcpKeepAliveMs = 180_000;

/**
 * Creates one TLS server for both protocols, which passes each connection to an HTTP/1.1 or HTTP/2 server by ALPN.
 * Node's HTTP/2 server with `allowHTTP1` takes HTTP/1.1 too, but without the timeouts and header bounds of http.Server.
 */
export function makeProtocolServers(
  tlsOptions: tls.TlsOptions,
  bounds: ProtocolBounds,
  listener: RequestListener,
): ProtocolServers {
  const upgraded = new Set<Duplex>();
  const http1 = makeHttp1(bounds, listener, upgraded);
  const h2 = makeHttp2(bounds, listener);
  const front = tls.createServer({
    ...tlsOptions,
    ALPNProtocols: bounds.serveHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    // Disables Nagle's algorithm, which delays small responses.
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveMs,
  });
  front.on('secureConnection', (socket) => (socket.alpnProtocol === 'h2' ? h2 : http1).emit('connection', socket));
  front.on('listening', () => http1.emit('listening'));
  // Stops the connection timers of http1, which does not listen itself.
  front.on('close', () => http1.close());
  return { front, http1, http2: h2, upgraded };
}

function makeHttp1(bounds: ProtocolBounds, listener: RequestListener, upgraded: Set<Duplex>): http.Server {
  const server = http.createServer({
    maxHeaderSize: bounds.headerBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    keepAliveTimeout: bounds.idleTimeoutMs,
    // Deadlines are set per request (deadline.hook.ts); watches have none.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(Math.min(bounds.headersTimeoutMs / 8, 2_000), 20),
    // A missing Host header is refused by makeRoutable, with a Status.
    requireHostHeader: false,
    ...(bounds.upgrades && { IncomingMessage: upgradableMessages(bounds.upgrades) }),
  });
  // The parser silently drops headers beyond this number: one more than allowed is accepted, then refused.
  server.maxHeadersCount = bounds.headersMax + 1;
  server.on('request', listener);
  server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
    continueWhenRead(request, response);
    listener(request, response);
  });
  server.on('checkExpectation', refuseExpectation(listener));
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => refuseTunnel(request, socket, listener));
  if (bounds.upgrades)
    server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
      const response = prepareUpgrade(request, socket, head, (taken) => {
        upgraded.add(taken);
        taken.once('close', () => upgraded.delete(taken));
      });
      if (response) listener(request, response);
    });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseUnreadable(error, socket));
  return server;
}

function makeHttp2(bounds: ProtocolBounds, listener: RequestListener): http2.Http2Server {
  const server = http2.createServer({
    settings: {
      maxConcurrentStreams: bounds.streamsPerConnectionMax,
      maxFrameSize: frameBytesMax,
      maxHeaderListSize: bounds.headerBytesMax,
    },
    // Requests with up to twice the bound are refused with a Status; a stream with more is reset.
    maxHeaderListPairs: 2 * bounds.headersMax,
    maxSettings: settingsPerFrameMax,
    maxSessionMemory: sessionMegabytesMax,
    maxSessionInvalidFrames: invalidFramesMax,
  });
  server.on('request', listener);
  server.on('checkContinue', (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => {
    continueWhenRead(request, response);
    listener(request, response);
  });
  server.on('checkExpectation', refuseExpectation(listener));
  server.on('connect', (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => {
    refuse(request, ApiError.methodNotAllowed());
    listener(request, response);
  });
  // Protocol errors of clients end their session; without a listener they would end the process.
  server.on('sessionError', () => undefined);
  return server;
}

function refuseExpectation(listener: RequestListener) {
  return (request: AnyRequest, response: AnyResponse) => {
    refuse(request, new ApiError({ reason: 'BadRequest', code: 417, message: 'the expectation cannot be met' }));
    listener(request, response);
  };
}

/** Refuses CONNECT with a Status. */
function refuseTunnel(request: http.IncomingMessage, socket: Socket, listener: RequestListener): void {
  const response = responseOn(request, socket);
  if (!response) return;
  refuse(request, ApiError.methodNotAllowed());
  listener(request, response);
}
