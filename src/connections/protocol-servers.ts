import * as http from 'node:http';
import * as http2 from 'node:http2';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { refuseUnreadable } from '../hooks/unreadable-request.js';
import type { AnyRequest, AnyResponse } from './raw-messages.js';
import { refuse } from './unusual-requests.js';
import { continueWhenRead } from './expectations.js';
import { ApiError } from '../machinery/api-error.js';

export interface ProtocolBounds {
  readonly serveHttp2: boolean;
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface ProtocolServers {
  /** Owns the port and the TLS handshakes. */
  readonly front: tls.Server;
  readonly http1: http.Server;
  readonly http2: http2.Http2Server;
}

export type RequestListener = (request: AnyRequest, response: AnyResponse) => void;

/** As Go's server: fewer CONTINUATION frames for large heads, of which nghttp2 takes eight. */
const frameBytesMax = 1024 * 1024;
const settingsPerFrameMax = 64;
const invalidFramesMax = 1000;
/** Of answers that wait for their window, mostly: a controller that starts lists many kinds at once on one session. */
const sessionMegabytesMax = 64;
/** TCP probes find peers that vanished without a word; as kube-apiserver. */
const tcpKeepAliveMs = 180_000;

/**
 * One TLS port for both protocols. Each connection is handed to a server of its own protocol by ALPN. Node's HTTP/2
 * server with `allowHTTP1` would take HTTP/1.1 connections, too, but without the timeouts and header bounds of
 * http.Server.
 */
export function makeProtocolServers(
  tlsOptions: tls.TlsOptions,
  bounds: ProtocolBounds,
  listener: RequestListener,
): ProtocolServers {
  const http1 = makeHttp1(bounds, listener);
  const h2 = makeHttp2(bounds, listener);
  const front = tls.createServer({
    ...tlsOptions,
    ALPNProtocols: bounds.serveHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    // Without it small answers wait for each other.
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveMs,
  });
  front.on('secureConnection', (socket) => (socket.alpnProtocol === 'h2' ? h2 : http1).emit('connection', socket));
  front.on('listening', () => http1.emit('listening'));
  // Stops the timer that checks the connections; it never had a port of its own.
  front.on('close', () => http1.close());
  return { front, http1, http2: h2 };
}

function makeHttp1(bounds: ProtocolBounds, listener: RequestListener): http.Server {
  const server = http.createServer({
    maxHeaderSize: bounds.headerBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    keepAliveTimeout: bounds.idleTimeoutMs,
    // Each request has a deadline of its own, and watches have none.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(Math.min(bounds.headersTimeoutMs / 8, 2_000), 20),
    // Refused with a Status instead of without a body.
    requireHostHeader: false,
  });
  // The parser drops headers beyond this number without a word: one more than allowed is let in, and refused.
  server.maxHeadersCount = bounds.headersMax + 1;
  server.on('request', listener);
  server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
    continueWhenRead(request, response);
    listener(request, response);
  });
  server.on('checkExpectation', refuseExpectation(listener));
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => refuseTunnel(request, socket, listener));
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
    // Up to twice the number gets a Status; a stream with more is reset.
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
  // The client broke the protocol; its session is over.
  server.on('sessionError', () => undefined);
  return server;
}

function refuseExpectation(listener: RequestListener) {
  return (request: AnyRequest, response: AnyResponse) => {
    refuse(request, new ApiError({ reason: 'BadRequest', code: 417, message: 'the expectation cannot be met' }));
    listener(request, response);
  };
}

/** Node gives CONNECT no response to answer with, so that one is made here. */
function refuseTunnel(request: http.IncomingMessage, socket: Socket, listener: RequestListener): void {
  socket.on('error', () => socket.destroy());
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.destroySoon();
    response.emit('close');
  });
  refuse(request, ApiError.methodNotAllowed());
  listener(request, response);
}
